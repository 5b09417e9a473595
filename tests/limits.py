"""How long tests wait for what should come: limits that end a hang, never a measure of speed."""

# chosen: far above anything a test waits for, even with many other programs on the machine
HANG_SECONDS = 600

# chosen: six times the 30 s that were too short beside much other work; a test that fails does so
# before long
BROWSER_SECONDS = 180
