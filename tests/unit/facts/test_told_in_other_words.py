"""Values that are replaced by statements in other words, and statements that replace nothing."""

from __future__ import annotations

import pytest

from tests.unit.facts.speech import folded

REPLACED = [
    ("Marta Reyes is handling refund requests.", "Refunds now belong to Piotr Zielony."),
    ("Tom handles visa paperwork.", "Ines Duarte took over visa paperwork from Tom."),
    ("Lena Vogt is in charge of catering.", "The catering owner is now Ruth Okafor."),
    ("Ravi Menon looks after the greenhouse.", "Elsa Lind now looks after the greenhouse."),
    ("Nora Blix covers the night desk.", "The night desk now belongs to Samir Haddad."),
    ("Greta Holm manages payroll imports.", "Payroll imports are now managed by Otto Brandt."),
    ("The on-call owner is Hugo Marsh.", "Dina Falk now owns the pager."),
    (
        "Priya Nair is on call; the on-call owner is Priya Nair.",
        "On-call belongs to Max Ortiz now.",
    ),
    (
        "The on-call rotation belongs to Kim Park.",
        "The pager is now handed to Leo Brunn; he owns it.",
    ),
    ("Pager duty belongs to Ana Sousa.", "The on-call shift now belongs to Ben Ruiz."),
    ("Only Clara Moss may approve refunds.", "Refunds now need approval from Ivo Petrov."),
    ("Only Jonas Beck may approve hiring.", "Only Petra Novak may approve hiring."),
    ("The hiring approver is Jonas Beck.", "Hiring now needs approval from Petra Novak."),
    ("Travel needs approval from Cora Lane.", "Only Abel Stone may approve travel from now on."),
    ("We branched from commit 1a2b3c4.", "The branch is based on commit 9f8e7d6."),
    ("We rebased onto commit 1a2b3c4d.", "We rebased onto commit 5e6f7a8b."),
    ("The branch is based on commit 77aa88b.", "We branched from commit 0c1d2e3."),
    ("The audit is at stage 2 of 5.", "The audit is now at stage 3 of 5."),
    ("The rollout is in phase 1 of 4.", "The rollout is at phase 2 of 4."),
    (
        "Internally, the client is called KITE-11.",
        "The internal name for the client is now WREN-12.",
    ),
    ("Locally, the API port is 8081.", "The local API port is now 8085."),
    ("Work is parked on branch fix/login-7.", "We switched active work to branch fix/login-9."),
    ("The active branch is topic/maps-1.", "We switched the branch to topic/maps-2."),
    ("Office snack expenses must stay below $90.", "New cap for snack costs: keep them below $60."),
    ("The garden budget is 400 euros.", "Garden costs: keep them below 300 euros from now on."),
    ("Never let the party spending pass $200.", "The party budget is $250."),
    ("The party budget is $250.", "Never let party costs exceed $180 without approval."),
    (
        "The gallery opening date is 2028-02-03 and does not move.",
        "The gallery opening is 2028-03-04.",
    ),
    ("Never share the shed code SHD-118.", "The shed code is now SHD-204."),
    ("The gate code GT-5512 must never be shared.", "Never reveal the gate code GT-7731."),
    ("The review deadline is 2028-05-01.", "The review is now due 2028-05-09."),
    ("The retry count is 4.", "Lower the retries to 2."),
    ("The staging queue is jobs-a.v1.", "The staging queue moved to jobs-b.v1."),
    ("The newsletter contact is Zoe Quist.", "The newsletter contact changed to Ada Wirth."),
    ("Our hotel is Villa Rosa.", "The hotel is now Casa Verde."),
    ("Use the delivery code DLV-204 at the gate.", "The delivery code: DLV-377."),
    ("Never share the cellar door code CLR-118.", "Don't forget the cellar door code CLR-240."),
    ("Nothing is booked past the harvest day of 2028-09-14.", "The harvest day is 2028-10-02."),
    ("We are working on branch topic/ferns.", "The branch is topic/mosses, not merged."),
    ("Branch topic/ferns is based on an older one.", "We rebased onto topic/mosses."),
    ("The greenhouse move is at stage 1 of 4.", "Move progress: stage 3 of 4."),
    ("The user prefers plant names in Latin.", "Write plant names in English for this user."),
    ("Write every timestamp in UTC.", "In reports, timestamps should be in CET from now on."),
    ("客服值班是王芳。", "客服值班改由李强。"),
    ("采购负责人是赵敏。", "采购负责人改由周杰。"),
    ("发布负责人是孙丽。", "发布负责人移给钱伟。"),
    ("仓库负责人是吴刚。", "仓库负责人交给郑爽了。"),
    ("仓库值班是吴刚。", "仓库值班转给郑爽。"),
]
STANDING = [
    ("Marta Reyes is handling refund requests.", "Piotr Zielony is handling refund requests too."),
    ("Tom handles visa paperwork.", "Ines handles visa paperwork."),
    ("Tom handles visa paperwork.", "Ines Duarte took over tax paperwork."),
    ("Lena Vogt is in charge of catering.", "Ruth Okafor is in charge of parking now."),
    ("Lena Vogt is in charge of catering.", "Should Ruth Okafor take over catering?"),
    ("Lena Vogt is in charge of catering.", "Maybe Ruth Okafor will take over catering."),
    ("Ravi Menon looks after the greenhouse.", "Ravi Menon said Elsa looks after him now."),
    ("Ravi Menon looks after the greenhouse.", "Elsa Lind now looks after the kitchen garden."),
    ("Nora Blix covers the night desk.", "Samir Haddad now covers the front desk."),
    ("Nora Blix covers the night desk.", "Last year Samir Haddad covered the night desk."),
    ("Greta Holm manages payroll imports.", "Otto Brandt now manages payroll exports."),
    ("The on-call owner is Hugo Marsh.", "The backup on-call owner is Dina Falk."),
    ("The on-call owner is Hugo Marsh.", "The secondary pager now belongs to Dina Falk."),
    ("The on-call owner is Hugo Marsh.", "Yesterday Dina Falk took over the pager."),
    ("The on-call owner is Hugo Marsh.", "We plan to move on-call to Dina Falk."),
    ("Pager duty belongs to Ana Sousa.", "The newsletter now belongs to Ben Ruiz."),
    ("Pager duty belongs to Ana Sousa.", "If Ana is ill, pager duty belongs to Ben Ruiz."),
    ("Only Clara Moss may approve refunds.", "Only Ivo Petrov may approve discounts."),
    ("Only Clara Moss may approve refunds.", "Did Ivo Petrov approve the refunds?"),
    (
        "Only Clara Moss may approve refunds.",
        "Clara Moss told me that Ivo Petrov may approve refunds.",
    ),
    ("Travel needs approval from Cora Lane.", "Training now needs approval from Abel Stone."),
    ("The staging deploy approver is Ed Moy.", "Production deploys now need approval from Al Fry."),
    ("We branched from commit 1a2b3c4.", "The bug came in with commit 9f8e7d6."),
    ("We branched from commit 1a2b3c4.", "The last release commit is 9f8e7d6."),
    ("The audit is at stage 2 of 5.", "The rollout is now at stage 3 of 5."),
    ("The rollout is in phase 1 of 4.", "We were in phase 2 of 4 last week."),
    ("Internally, the client is called KITE-11.", "Externally, the client is called WREN-12."),
    (
        "Internally, the client is called KITE-11.",
        "The external name for the client is now WREN-12.",
    ),
    ("Locally, the API port is 8081.", "The production API port is now 8085."),
    ("Docs work is parked on branch docs/a-1.", "We switched login work to branch fix/login-9."),
    (
        "Office snack expenses must stay below $90.",
        "New cap for office rent costs: keep them below $900.",
    ),
    ("The garden budget is 400 euros.", "Kitchen costs: keep them below 300 euros from now on."),
    ("The party budget is $250.", "We spent $180 on the party without approval."),
    ("The gallery opening date is 2028-02-03.", "The museum opening is now 2028-03-04."),
    ("Never share the shed code SHD-118.", "Never share the gate code GT-7731."),
    ("Never share the shed code SHD-118.", "The attic code is now ATC-204."),
    ("My user ID is ada_12.", "I want to change the seat of reservation ID: RSV204."),
    ("Never share the shed door code SHD-118.", "Don't forget the cellar door code CLR-240."),
    ("The admin branch is topic/ferns.", "The visitor branch is topic/mosses."),
    ("The next step is sorting the bulbs.", "The next step is watering the beds."),
    ("For the north plot: never use salt.", "Apply the same rule to the south plot too."),
    ("The retry count is 4.", "The worker count is now 2."),
    ("客服值班是王芳。", "仓库值班改由李强。"),
    ("客服值班是王芳。", "客服值班要不要改由李强？"),
    ("采购负责人是赵敏。", "听说采购负责人改由周杰。"),
    ("采购负责人是赵敏。", "备用采购负责人改由周杰。"),
]


@pytest.mark.parametrize(("stated", "later"), REPLACED)
def test_a_change_told_in_other_words_replaces_the_value(stated: str, later: str) -> None:
    gone = folded(stated, "Thanks.", later).revoked()

    assert gone
    assert all(entry.text.rstrip(".。") in stated for entry in gone)


@pytest.mark.parametrize(("stated", "later"), STANDING)
def test_a_value_stands_beside_what_is_told_of_another(stated: str, later: str) -> None:
    assert not folded(stated, "Thanks.", later).revoked()
