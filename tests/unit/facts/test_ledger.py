"""What holds after all that was said."""

from __future__ import annotations

from ctxcore.facts.ledger import MOST_OF_A_KIND, SLACK, Ledger, live
from ctxcore.facts.values import Fact
from tests.unit.facts.speech import entries, facts, folded, held, of_call, of_output


def test_the_same_fact_twice_is_one_entry_with_both_places() -> None:
    (entry,) = entries(folded("See order ORD-2026-417", "ORD-2026-417 is late"), "identifier")

    assert entry.seqs == (1, 2)
    assert entry.mentions == 2


def test_a_newer_value_replaces_the_older_and_remembers_it() -> None:
    (entry,) = entries(folded("The port is 8080.", "Set the port to 9090."), "number")

    assert (entry.text, entry.note, entry.seqs) == ("9090", "8080", (2,))


def test_a_date_moves_only_where_the_matter_is_the_same() -> None:
    ledger = folded(
        "The review meeting is on Monday.",
        "The dinner is on Thursday.",
        "The review meeting is on Tuesday now.",
    )

    assert sorted(held(ledger, "date")) == ["Thursday", "Tuesday"]


def test_a_chinese_value_is_replaced_too() -> None:
    ledger = folded("端口是 8080", "端口改成 9090")

    assert held(ledger, "number") == ["9090"]


def test_what_a_tool_prints_does_not_overrule_people() -> None:
    ledger = folded("timeout=30", facts("timeout: 5", "tool"))

    assert held(ledger, "number") == ["30"]


def test_an_answered_question_closes_and_an_unanswered_one_stays() -> None:
    asked = facts("Which database holds the invoices? Who owns the printer in room 12?")
    answered = facts("The invoices are held in the billing database.", "assistant")

    assert held(folded(asked, answered), "question") == ["Who owns the printer in room 12?"]


def test_putting_off_is_no_answer() -> None:
    asked = facts("Which database holds the invoices?")
    put_off = facts("I'll check and get back to you.", "assistant")

    assert held(folded(asked, put_off), "question") == ["Which database holds the invoices?"]


def test_an_error_gets_the_words_that_fixed_it() -> None:
    ledger = folded(
        of_output("ConnectionError: refused by db:5432", "bash", command="make test"),
        facts("The root cause was a closed port on db.", "assistant"),
    )

    (error,) = entries(ledger, "error")

    assert error.note == "The root cause was a closed port on db."


def test_a_command_that_passes_fixes_its_errors_by_what_was_changed() -> None:
    ledger = folded(
        of_output("AssertionError: 1 != 2", "bash", command="pytest -q"),
        of_call("Edit", file_path="calc.py", old_string="1", new_string="2"),
        of_output("3 passed", "bash", command="pytest -q"),
    )

    (error,) = entries(ledger, "error")

    assert error.note == "changed calc.py"


def test_edits_of_a_file_add_up_and_it_is_no_longer_only_read() -> None:
    ledger = folded(
        of_call("Read", file_path="a.py"),
        of_call("Edit", file_path="a.py", old_string="x", new_string="y\nz"),
        of_call("Edit", file_path="a.py", old_string="q", new_string=""),
        of_call("Read", file_path="a.py"),
    )

    (changed,) = entries(ledger, "file_changed")

    assert changed.note == "+2 −2"
    assert held(ledger, "file_read") == []


def test_only_the_latest_to_do_list_holds() -> None:
    first = of_call("TodoWrite", todos=[{"content": "a", "status": "pending"}])
    last = of_call("TodoWrite", todos=[{"content": "a", "status": "completed"}])

    (todo,) = entries(folded(first, last), "todo")

    assert (todo.text, todo.note, todo.seqs) == ("[x] a", "1/1", (2,))


def test_a_later_decision_replaces_the_one_it_names() -> None:
    ledger = folded("Let's use MySQL.", "Actually, let's use PostgreSQL instead of MySQL.")

    assert held(ledger, "decision") == ["Actually, let's use PostgreSQL instead of MySQL."]


def test_what_is_said_often_and_lately_is_worth_more() -> None:
    ledger = folded("ORD-1111", "ORD-2222", "ORD-1111", "ORD-1111 again", "fine")

    often, once = entries(ledger, "identifier")

    assert often.salience > once.salience


def test_a_ledger_stays_bounded() -> None:
    ledger = Ledger()
    for seq in range(3_000):
        ledger.add(seq, [Fact(kind="identifier", text=f"ORD-{seq}", key=f"ord-{seq}")])

    assert len(live(ledger)) <= MOST_OF_A_KIND + SLACK
    assert held(ledger, "identifier")[-1] == "ORD-2999"


def test_a_copy_goes_its_own_way() -> None:
    ledger = folded("Never use emojis.")
    other = ledger.copy()

    other.add(2, facts("You may use emojis again."))

    assert held(ledger, "instruction") == ["Never use emojis."]
    assert held(other, "instruction") == ["You may use emojis again."]
