"""Statements that bind a thing to a value: what replaces them, and what leaves them standing."""

from __future__ import annotations

import pytest

from ctxcore import compact
from ctxcore.facts.facts_block import parse_facts_block, render_facts
from ctxcore.facts.finding import dump_facts, load_facts
from ctxcore.facts.ledger import live
from ctxcore.facts.replacing import replacements
from ctxcore.messages.values import Role
from ctxcore.text.languages import Language
from ctxcore.tokens.count import counter_for
from tests.unit.facts.speech import facts, folded, held

REPLACED = [
    (
        "The staging database host is db1.internal.",
        "The staging database host is now db7.internal.",
    ),
    ("Use https://a.example.com as the docs URL.", "The docs URL is https://b.example.com."),
    ("The API port is 8080.", "Switch the API port to 9090."),
    ("Our release branch is release/2.4.", "We moved the release branch to release/2.5."),
    ("My email is anna@old.example.", "My email address is anna@new.example."),
    ("The launch date is 2027-03-01.", "Push the launch date to 2027-04-15."),
    ("The venue is the Grand Hall.", "Change the venue to the Blue Room."),
    ("The travel budget is $1,200.", "Raise the travel budget to $1,500."),
    ("The deploy region is eu-west-1.", "Make the deploy region eu-north-1."),
    ("Set the request timeout to 30s.", "The request timeout is 45s."),
    ("The point of contact is Maria Lopez.", "The point of contact is now Jan Kowalski."),
    ("The default model is gpt-4o.", "Use claude-3-opus as the default model."),
    ("The invoice number is INV-2041.", "Correction: the invoice number is INV-2042."),
    ("The upload directory is /srv/uploads.", "The upload directory moved to /data/uploads."),
    ("The kick-off is on Monday.", "The kick-off moved to Thursday."),
    ("The project codename is FALCON-7.", "We are calling the project HERON-2 now."),
    ("The retry count is 3.", "Instead of 3, make the retry count 5."),
    (
        "The docs are in German; the report language is German.",
        "The report language is now English.",
    ),
    ("Port: 8080", "Port: 9090"),
    ("The Slack channel is #ops-alerts-1.", "From now on the Slack channel is #ops-alerts-2."),
    (
        "The build server is ci-04.example.net.",
        "Forget ci-04.example.net, the build server is ci-09.example.net.",
    ),
    ("The room is B-204.", "The room changed to C-310."),
    ("Flight number is LH441.", "The flight number is now LH443."),
    ("The standup is at 9:30.", "The standup is at 10:00 from now on."),
    ("Our supplier is Nordic Timber.", "Our supplier is now Baltic Wood."),
    ("The password hint is hint-77.", "Update the password hint: it is hint-88."),
    ("The ticket price is 45 euros.", "The ticket price is 50 euros."),
    ("The database version is 14.2.", "We upgraded; the database version is 16.1."),
    ("The reviewer is Tom Hardy.", "Our reviewer is now Lea Brandt."),
    ("数据库地址是 db1.internal。", "数据库地址改成 db2.internal。"),
    (
        "用 https://a.example.cn 作为测试环境的接口地址。",
        "测试环境的接口地址是 https://b.example.cn。",
    ),
    ("端口是8080。", "端口改为9090。"),
    ("发布日期是5月3日。", "发布日期推迟到5月10日。"),
    ("预算上限是3000元。", "预算上限现在是5000元。"),
    ("部署区域是上海。", "部署区域换成北京。"),
    ("负责人是王芳。", "负责人换成李强。"),
    ("会议地点在三楼。", "会议地点改到五楼。"),
    ("联系邮箱是 a@x.cn。", "联系邮箱换成 b@x.cn。"),
    ("默认模型用 qwen-72b。", "默认模型改用 qwen-110b。"),
    ("酒店是如家酒店。", "酒店换成汉庭。"),
    ("版本号是 v1.2.3。", "版本号更新为 v1.3.0。"),
    ("报告语言是英文。", "报告语言改成中文。"),
    ("单价是20元。", "单价改成25元。"),
    ("航班是CA1501。", "航班改成CA1503。"),
]
STANDING = [
    (
        "The staging API URL is https://s.example.com.",
        "The production API URL is https://p.example.com.",
    ),
    (
        "The staging API URL is https://s.example.com.",
        "Is the staging API URL https://p.example.com?",
    ),
    (
        "The staging API URL is https://s.example.com.",
        "If the staging API URL is https://q.example.com, it fails.",
    ),
    (
        "The staging API URL is https://s.example.com.",
        "The staging API URL was https://o.example.com until May.",
    ),
    (
        "The staging API URL is https://s.example.com.",
        "The guide says the staging API URL is https://g.example.com.",
    ),
    (
        "The staging API URL is https://s.example.com.",
        "For example, the staging API URL is https://e.example.com.",
    ),
    (
        "The staging API URL is https://s.example.com.",
        "We plan to change the staging API URL to https://n.example.com.",
    ),
    (
        "The staging API URL is https://s.example.com.",
        "Maybe we should switch the staging API URL to https://n.example.com.",
    ),
    ("The API port is 8080.", "The metrics port is 9090."),
    ("The API port is 8080.", "The admin API port is 9091."),
    ("The API port is 8080.", "Bob's API port is 7070."),
    ("The API port is 8080.", "The API port is 8080."),
    ("My email is a@x.example.", "Her email is b@x.example."),
    ("My phone number is 555-1234.", "My sister's phone number is 555-9999."),
    ("The primary region is eu-west-1.", "The backup region is us-east-1."),
    ("The travel budget is $1,200.", "The marketing budget is $5,000."),
    ("The travel budget is $1,200.", "The travel budget is lower than $2,000."),
    ("The travel budget is $1,200.", "I spent $300 of the travel budget."),
    ("The launch date is 2027-03-01.", "The review date is 2027-02-01."),
    ("The launch date is 2027-03-01.", "The launch date was 2027-01-01 originally."),
    ("The launch date is 2027-03-01.", "Could we move the launch date to 2027-05-01?"),
    ("The venue is the Grand Hall.", "The dinner venue is the Blue Room."),
    ("The default model is gpt-4o.", "The fallback model is gpt-4o-mini."),
    ("The default model is gpt-4o.", "Is claude-3-opus better as the default model?"),
    ("The deploy region is eu-west-1.", "What if the deploy region is us-east-1?"),
    ("The contact is Maria Lopez.", "The emergency contact is Jan Kowalski."),
    ("The first reviewer is Tom Hardy.", "The second reviewer is Lea Brandt."),
    ("The ticket price is 45 euros.", "The parking price is 12 euros."),
    ("The ticket price is 45 euros.", "The ticket price for children is 20 euros."),
    ("The room is B-204.", "Maria's room is C-310."),
    ("The release branch is release/2.4.", "The hotfix branch is hotfix/2.4.1."),
    ("The release branch is release/2.4.", "He said the release branch is release/2.5."),
    (
        "The release branch is release/2.4.",
        '"The release branch is release/9.9" is what the wiki has.',
    ),
    (
        "The servers are a1.example.net, a2.example.net.",
        "The servers are a1.example.net, a2.example.net and a3.example.net.",
    ),
    ("The API port is 8080.", "The docs mention that the API port is often 3000."),
    ("The request timeout is 30s.", "The connect timeout is 5s."),
    ("The request timeout is 30s.", "Last week the request timeout was 60s."),
    ("The standup is at 9:30.", "The retro is at 15:00."),
    ("The standup is at 9:30.", "The standup is on Mondays."),
    ("The build server is ci-04.example.net.", "The build server ci-05.example.net failed."),
    (
        "The upload directory is /srv/uploads.",
        "Someone should check if the upload directory is /tmp/uploads.",
    ),
    ("The database version is 14.2.", "The database version in the example is 16.1, for instance."),
    ("The invoice number is INV-2041.", "The order number is INV-2099."),
    ("Our supplier is Nordic Timber.", "We considered Baltic Wood as supplier."),
    ("Read line 12: the port is 8080.", "The error is on line 40."),
    ("The internal URL is https://i.example.com.", "The external URL is https://x.example.com."),
    ("The app runs on port 3000.", "The database runs on port 5432."),
    ("The meeting in May is in room B-204.", "The meeting in June is in room C-310."),
    ("Never share the door code 4711.", "Never share the alarm code 9921."),
    ("The code for building 1 is AB-11.", "The code for building 2 is AB-22."),
    ("测试环境地址是 https://t.example.cn。", "生产环境地址是 https://p.example.cn。"),
    ("测试环境地址是 https://t.example.cn。", "测试环境地址是 https://q.example.cn 吗？"),
    ("测试环境地址是 https://t.example.cn。", "如果测试环境地址是 https://q.example.cn 就会报错。"),
    ("端口是8080。", "之前端口是9090。"),
    ("端口是8080。", "管理端口是9091。"),
    ("负责人是王芳。", "测试负责人是李强。"),
    ("负责人是王芳。", "我打算把负责人换成李强。"),
    ("负责人是王芳。", "听说负责人换成李强了。"),
    ("预算上限是3000元。", "差旅预算上限是5000元。"),
    ("预算上限是3000元。", "比如预算上限是5000元。"),
    ("发布日期是5月3日。", "评审日期是4月20日。"),
    ("我的邮箱是 a@x.cn。", "她的邮箱是 b@x.cn。"),
    ("会议室是A301。", "备用会议室是B201。"),
    ("部署区域是上海。", "备份区域是北京。"),
    ("单价是20元。", "总价是200元。"),
    ("默认模型用 qwen-72b。", "备用模型用 qwen-7b。"),
    ("酒店是如家酒店。", "上次的酒店是汉庭。"),
]


@pytest.mark.parametrize(("stated", "later"), REPLACED)
def test_a_newer_value_of_the_same_thing_replaces_the_older(stated: str, later: str) -> None:
    gone = folded(stated, "Thanks.", later).revoked()

    assert gone
    assert all(entry.text.rstrip(".。") in stated for entry in gone)


@pytest.mark.parametrize(("stated", "later"), STANDING)
def test_a_value_stands_when_something_else_is_said(stated: str, later: str) -> None:
    assert not folded(stated, "Thanks.", later).revoked()


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_only_people_bind_and_replace(role: Role) -> None:
    stated, later = "The API port is 8080.", "The API port is now 9090."

    assert held(folded(stated, facts(later, role)), "setting") == [stated]


def test_the_same_value_in_other_words_replaces_nothing() -> None:
    said = ("The docs URL is https://a.example.com.", "Use https://a.example.com as the docs URL.")

    assert not folded(*said).revoked()


def test_an_instruction_that_names_the_thing_is_replaced_by_a_statement() -> None:
    rule = "Always deploy to the region eu-west-1."
    later = "The deploy region is eu-north-1."

    assert held(folded(rule, later), "instruction") != [rule, later]
    assert later in [entry.text for entry in live(folded(rule, later))]


def test_what_a_person_marks_as_to_remember_is_a_setting() -> None:
    said = ("Note: paper invoices lie on the third floor.", "备注：客户只要纸质发票。")

    assert held(folded(*said), "setting") == list(said)


def test_a_mark_tells_nothing_of_what_a_rule_is_about() -> None:
    first = "SAFETY RULE: Never send payroll data to other companies."
    second = "SAFETY RULE: Never run the purge tool alone."

    assert held(folded(first, second), "instruction") == [first, second]


def test_of_two_bindings_of_a_sentence_one_is_replaced() -> None:
    both = "The codename is FALCON-7, and the launch deadline is 2027-08-09."

    now = held(folded(both, "The launch deadline is 2027-09-01."), "setting")

    assert now == ["The codename is FALCON-7", "The launch deadline is 2027-09-01."]


def test_a_person_who_has_it_tells_things_apart() -> None:
    said = ("My email is a@x.example.", "Her email is b@x.example.", "My email is c@x.example.")

    assert held(folded(*said), "setting") == list(said[1:])


def test_settings_are_stored_as_they_are_found() -> None:
    found = facts("The API port is 8080 and the docs URL is https://a.example.com.")

    assert load_facts(dump_facts(found), "user") == found


@pytest.mark.parametrize(("language", "heading"), [("en", "Settings:"), ("zh", "设定：")])
def test_a_text_of_facts_is_read_back(language: Language, heading: str) -> None:
    counter = counter_for("gpt-4o")
    ledger = folded("The API port is 8080.")

    text = render_facts(live(ledger), max_tokens=200, counter=counter, language=language).text

    assert text.startswith(heading.rstrip("：:"))
    assert [fact.subject for fact in parse_facts_block(text) if fact.kind == "setting"] == [
        "number|api|port|8080|"
    ]


def test_a_message_with_a_replaced_value_tells_which_one_replaced_it() -> None:
    said = ["The API port is 8080.", "Thanks.", "Switch the API port to 9090."]

    assert replacements((seq, facts(text)) for seq, text in enumerate(said, 1)) == {1: 3}


def test_a_compaction_shows_the_newer_value_alone() -> None:
    talk = [
        {"role": "user" if at % 2 == 0 else "assistant", "content": f"{text} ({at})"}
        for at in range(60)
        for text in ["We talked about the garden, the weather and what to cook for the guests."]
    ]
    talk[4]["content"] = "The staging database host is db1.internal."
    talk[30]["content"] = "We moved the staging database host to db7.internal."

    context = compact(talk, max_tokens=400, model="gpt-4o", force=True).context

    text = "\n".join(str(message["content"]) for message in context.messages)
    assert "db7.internal" in text
    assert "db1.internal" not in text
