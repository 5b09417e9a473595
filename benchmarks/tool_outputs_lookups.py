"""Look-ups in long answers of twenty made-up APIs: one or two records are named, a value is asked.

The answers are made here from word lists and a seed, in the shapes that APIs use: lists, objects
keyed by name, records in records, rows apart from their columns, settings.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from ctxcore.messages.values import JsonObject, JsonValue

LEAST_RECORDS: Final = 20
MOST_RECORDS: Final = 160

Form = Literal["plain", "other words", "Chinese", "two records"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)


def _words_of(text: str) -> list[str]:
    return text.split()


FIRST: Final = _words_of("Maria Jonas Aisha Pavel Ingrid Tomas Leila Oskar Nadia Emil Yuki Carla")
LAST: Final = _words_of("Keller Novak Haddad Olsen Petrov Moreau Tanaka Rossi Lindqvist Okafor")
NOUN: Final = _words_of(
    "lamp desk shelf chair kettle mirror basket ladder blanket drawer stool carpet bottle clock"
)
LOOK: Final = _words_of("oak steel walnut linen copper marble bamboo velvet ceramic glass")
PART: Final = _words_of(
    "async http core auth cache queue metrics parser config client proto schema "
    "router vector stream crypto image audio graph table"
)
TOWN: Final = _words_of(
    "Varel Bremen Tromso Lugano Porto Gdansk Malmo Ghent Turku Bilbao Graz Brno Split Cork Bari"
)
HAN_LAST: Final = "王李张刘陈杨赵黄周吴徐孙"
HAN_FIRST: Final = "小明建国丽华志强秀英海燕伟芳敏静磊洋勇艳杰娟涛超"
HAN_GOODS: Final = _words_of("台灯 书桌 水壶 镜子 毛毯 座钟 地毯 瓷碗 木梯 藤椅")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A long answer, a question about it, and what has to be there: all of `wanted`."""

    content: str
    query: str
    shape: str
    form: Form
    wanted: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One kind of API: how a record is made, how records are wrapped, and what is asked.

    A question has `{0}` for the name of the record, and belongs to the path of its answer.
    """

    name: str
    record: Callable[[random.Random], JsonObject]
    own_name: str
    wrap: Callable[[list[JsonObject]], JsonValue]
    questions: Sequence[tuple[Form, str, str]]


def make_lookups(count: int, seed: int) -> Iterator[Lookup]:
    """So many look-ups, all shapes and questions in turn."""
    chance = random.Random(seed)
    asked = [(shape, question) for shape in SHAPES for question in shape.questions]
    chance.shuffle(asked)
    for nth in range(count):
        yield _lookup(*asked[nth % len(asked)], chance)


def _lookup(shape: Shape, question: tuple[Form, str, str], chance: random.Random) -> Lookup:
    form, words, path = question
    records = _distinct(shape, chance, path)
    named = chance.sample(records, 2 if form == "two records" else 1)
    names = [str(_at(record, shape.own_name)) for record in named]
    return Lookup(
        content=_written(shape.wrap(records), chance),
        query=words.format(*names),
        shape=shape.name,
        form=form,
        wanted=tuple(json.dumps(_at(r, path), ensure_ascii=False).strip('"') for r in named),
    )


def _written(value: JsonValue, chance: random.Random) -> str:
    """The answer as tools write it: JSON with or without blanks, lines, what Python prints, CSV."""
    ways: list[Callable[[], str]] = [
        lambda: json.dumps(value),
        lambda: json.dumps(value, ensure_ascii=False, indent=2),
        lambda: repr(value),
    ]
    if isinstance(value, list):
        ways.append(lambda: "\n".join(json.dumps(record) for record in value))
        if all(_is_flat(record) for record in value):
            ways += [lambda: _separated(value), lambda: _aligned(value)]
    return chance.choice(ways)()


def _is_flat(record: JsonValue) -> bool:
    return isinstance(record, dict) and not any(
        isinstance(v, (dict, list)) for v in record.values()
    )


def _cells(records: Sequence[JsonValue]) -> list[list[str]]:
    rows = [record for record in records if isinstance(record, dict)]
    return [[*rows[0]], *([str(cell) for cell in row.values()] for row in rows)]


def _separated(records: Sequence[JsonValue]) -> str:
    return "\n".join(",".join(row) for row in _cells(records))


def _aligned(records: Sequence[JsonValue]) -> str:
    rows = _cells(records)
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    padded = (map(str.ljust, row, widths) for row in rows)
    return "\n".join("".join(row).rstrip() for row in padded)


def _distinct(shape: Shape, chance: random.Random, path: str) -> list[JsonObject]:
    """Records whose names differ, as do the values that are asked for."""
    found: dict[str, JsonObject] = {}
    values: set[str] = set()
    for _ in range(chance.randint(LEAST_RECORDS, MOST_RECORDS)):
        record = shape.record(chance)
        name, value = str(_at(record, shape.own_name)), str(_at(record, path))
        if name not in found and value not in values:
            found[name] = record
            values.add(value)
    return list(found.values())


def _at(value: JsonValue, path: str) -> JsonValue:
    for key in path.split("/"):
        assert isinstance(value, dict)
        value = value[key]
    return value


def _digits(chance: random.Random, count: int) -> str:
    return str(chance.randrange(10 ** (count - 1), 10**count))


def _hex(chance: random.Random, count: int) -> str:
    return "".join(chance.choices("0123456789abcdef", k=count))


def _capitals(chance: random.Random, count: int) -> str:
    return "".join(chance.choices(string.ascii_uppercase, k=count))


def _version(chance: random.Random) -> str:
    return f"{chance.randrange(30)}.{chance.randrange(60)}.{chance.randrange(90)}"


def _words(chance: random.Random, mark: str, count: int = 2) -> str:
    return mark.join(chance.sample(PART, count))


def _person(chance: random.Random) -> str:
    return f"{chance.choice(FIRST)} {chance.choice(LAST)}"


def _address(chance: random.Random) -> str:
    return ".".join(str(chance.randrange(1, 255)) for _ in range(4))


def _day(chance: random.Random) -> str:
    return f"2025-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"


def _moment(chance: random.Random) -> str:
    hour, minute, second = (chance.randrange(top) for top in (24, 60, 60))
    return f"{_day(chance)}T{hour:02}:{minute:02}:{second:02}Z"


def _package(chance: random.Random) -> JsonObject:
    return {"name": _words(chance, chance.choice("-_")), "version": _version(chance)}


def _dependency(chance: random.Random) -> JsonObject:
    name = f"@{chance.choice(PART)}/{_words(chance, '-')}"
    url = f"https://registry.example.org/{name}/-/{_hex(chance, 8)}.tgz"
    return {
        "name": name,
        "version": _version(chance),
        "resolved": url,
        "integrity": f"sha512-{_hex(chance, 40)}",
        "dev": chance.random() < 0.3,
    }


def _user(chance: random.Random) -> JsonObject:
    name = _person(chance)
    return {
        "id": chance.randrange(10**5),
        "name": name,
        "email": f"{name.lower().replace(' ', '.')}{chance.randrange(99)}@example.org",
        "role": chance.choice(["admin", "editor", "viewer"]),
        "active": chance.random() < 0.8,
        "last_login": _moment(chance),
        "avatar_url": f"https://img.example.org/{_hex(chance, 16)}.png",
    }


def _order(chance: random.Random) -> JsonObject:
    items: list[JsonValue] = [
        {
            "sku": _capitals(chance, 3) + _digits(chance, 4),
            "title": f"{chance.choice(LOOK)} {chance.choice(NOUN)}",
            "quantity": chance.randrange(1, 5),
        }
        for _ in range(chance.randrange(1, 4))
    ]
    return {
        "order_id": f"#W{_digits(chance, 7)}",
        "customer": {"name": _person(chance), "city": chance.choice(TOWN)},
        "items": items,
        "status": chance.choice(["pending", "shipped", "delivered", "returned"]),
        "total": round(chance.uniform(10, 900), 2),
        "tracking_number": _digits(chance, 12),
        "estimated_delivery": _moment(chance),
    }


def _product(chance: random.Random) -> JsonObject:
    name = f"{chance.choice(LOOK)} {chance.choice(NOUN)} {chance.choice(TOWN)}".title()
    return {
        "sku": _capitals(chance, 4) + _digits(chance, 3),
        "title": name,
        "description": f"A {name.lower()} for rooms of any size. " * chance.randrange(1, 4),
        "price": {"amount": round(chance.uniform(5, 500), 2), "currency": "EUR"},
        "stock": chance.randrange(1, 5000),
        "tags": chance.sample(PART, 3),
    }


def _flight(chance: random.Random) -> JsonObject:
    origin, goal = chance.sample(TOWN, 2)
    return {
        "flight_number": f"HAT{_digits(chance, 3)}",
        "origin": origin,
        "destination": goal,
        "departure_time": _moment(chance),
        "status": "available",
        "available_seats": {"economy": chance.randrange(20), "business": chance.randrange(20)},
        "prices": {"economy": chance.randrange(50, 250), "business": chance.randrange(300, 2000)},
    }


def _log_record(chance: random.Random) -> JsonObject:
    return {
        "ts": _moment(chance),
        "level": chance.choice(["info", "info", "info", "warn", "debug"]),
        "service": f"{chance.choice(PART)}-service",
        "trace_id": _hex(chance, 16),
        "message": f"{chance.choice(PART)} {chance.choice(NOUN)} handled for {chance.choice(TOWN)}",
        "duration_ms": chance.randrange(1, 90000),
        "host": f"node-{chance.randrange(9)}",
    }


def _file(chance: random.Random) -> JsonObject:
    folders = "/".join(chance.sample(PART, chance.randrange(1, 4)))
    return {
        "path": f"src/{folders}/{_words(chance, '_')}.py",
        "type": "file",
        "size": chance.randrange(100, 90000),
        "mode": "100644",
        "sha": _hex(chance, 40),
        "url": f"https://api.example.org/blobs/{_hex(chance, 40)}",
    }


def _setting(chance: random.Random) -> JsonObject:
    name = ".".join(chance.sample(PART, 3)) + chance.choice(["_limit", "_size", "_seconds"])
    return {"name": name, "value": chance.randrange(1, 90000)}


def _service(chance: random.Random) -> JsonObject:
    return {
        "name": f"{_words(chance, '-')}",
        "listen": {"host": _address(chance), "port": chance.randrange(1024, 60000)},
        "replicas": chance.randrange(1, 9),
        "image": f"registry.example.org/{_words(chance, '/')}:{_version(chance)}",
        "owner": f"{chance.choice(PART)}-team",
    }


def _pod(chance: random.Random) -> JsonObject:
    name = f"{_words(chance, '-')}-{_hex(chance, 5)}"
    return {
        "metadata": {
            "name": name,
            "namespace": chance.choice(["prod", "staging"]),
            "uid": f"{_hex(chance, 8)}-{_hex(chance, 4)}-{_hex(chance, 12)}",
            "labels": {"app": name.rpartition("-")[0], "tier": chance.choice(["web", "job"])},
        },
        "spec": {"nodeName": f"node-{chance.randrange(40)}", "restartPolicy": "Always"},
        "status": {
            "phase": "Running",
            "podIP": _address(chance),
            "startTime": _moment(chance),
            "containerStatuses": [{"name": "main", "restartCount": 0, "ready": True}],
        },
    }


def _issue(chance: random.Random) -> JsonObject:
    title = f"{chance.choice(PART)} {chance.choice(NOUN)} breaks in {chance.choice(TOWN)}"
    return {
        "number": chance.randrange(100, 9999),
        "title": title.capitalize(),
        "state": chance.choice(["open", "closed"]),
        "user": {"login": f"{chance.choice(FIRST).lower()}{chance.randrange(999)}", "id": 7},
        "labels": [{"name": chance.choice(PART), "color": _hex(chance, 6)}],
        "comments": chance.randrange(40),
        "html_url": f"https://git.example.org/issues/{_hex(chance, 6)}",
        "body": f"Steps: open the {chance.choice(NOUN)}, then the {chance.choice(NOUN)}. " * 4,
    }


def _weather(chance: random.Random) -> JsonObject:
    return {
        "city": f"{chance.choice(['Old', 'New', 'East', 'West', 'Port'])} {chance.choice(TOWN)}",
        "temp_c": round(chance.uniform(-20, 39), 1),
        "humidity": round(chance.uniform(10, 99), 2),
        "wind": {"speed_kph": round(chance.uniform(1, 90), 2), "direction": "NW"},
        "sky": chance.choice(["clear", "cloudy", "rain"]),
    }


def _share(chance: random.Random) -> JsonObject:
    return {
        "symbol": _capitals(chance, 4),
        "exchange": "XETR",
        "price": round(chance.uniform(2, 900), 2),
        "change_percent": round(chance.uniform(-5, 5), 3),
        "volume": chance.randrange(10**4, 10**8),
        "market_cap": chance.randrange(10**8, 10**11),
    }


def _han_name(chance: random.Random) -> str:
    return chance.choice(HAN_LAST) + "".join(chance.sample(HAN_FIRST, 2))


def _employee(chance: random.Random) -> JsonObject:
    return {
        "姓名": _han_name(chance),
        "工号": f"E{_digits(chance, 5)}",
        "部门": chance.choice(["销售部", "财务部", "研发部", "人事部"]),
        "电话": f"13{_digits(chance, 9)}",
        "入职日期": _day(chance),
        "在职": True,
    }


def _han_order(chance: random.Random) -> JsonObject:
    return {
        "订单号": f"D{_digits(chance, 8)}",
        "客户": _han_name(chance),
        "商品": f"{chance.choice('红蓝白黑')}色{chance.choice(HAN_GOODS)}",
        "价格": round(chance.uniform(10, 900), 2),
        "状态": chance.choice(["已发货", "待付款", "已完成"]),
        "物流单号": f"SF{_digits(chance, 10)}",
    }


def _account(chance: random.Random) -> JsonObject:
    return {
        "account_no": f"ACC-{_digits(chance, 6)}",
        "holder": _person(chance),
        "branch": chance.choice(TOWN),
        "balance": round(chance.uniform(-500, 90000), 2),
        "opened": _day(chance),
    }


def _instance(chance: random.Random) -> JsonObject:
    return {
        "InstanceId": f"i-0{_hex(chance, 12)}",
        "InstanceType": chance.choice(["t3.micro", "m5.large", "c6.xlarge"]),
        "LaunchTime": _moment(chance),
        "PrivateIpAddress": _address(chance),
        "State": {"Code": 16, "Name": "running"},
        "Tags": [{"Key": "Name", "Value": _words(chance, "-")}],
    }


def _entry(chance: random.Random) -> JsonObject:
    return {
        "name": f"{chance.choice(PART)}.{_words(chance, '-')}.example.org",
        "type": chance.choice(["A", "CNAME", "TXT"]),
        "ttl": chance.choice([60, 300, 3600]),
        "value": _address(chance),
    }


def _text(chance: random.Random) -> JsonObject:
    words = (chance.choice([*NOUN, *LOOK, *TOWN]) for _ in range(chance.randrange(3, 8)))
    return {"key": ".".join(chance.sample(PART, 3)), "text": " ".join(words).capitalize()}


def _job(chance: random.Random) -> JsonObject:
    steps: list[JsonValue] = [
        {"name": f"{chance.choice(PART)} {n}", "number": n, "conclusion": "success"}
        for n in range(1, chance.randrange(3, 7))
    ]
    return {
        "id": chance.randrange(10**9),
        "name": f"{chance.choice(PART)} ({chance.choice(TOWN)}, 3.{chance.randrange(9, 15)})",
        "conclusion": "success",
        "started_at": _moment(chance),
        "runner_name": f"runner-{_hex(chance, 6)}",
        "steps": steps,
    }


def _meeting(chance: random.Random) -> JsonObject:
    start = _moment(chance)
    return {
        "title": f"{chance.choice(PART)} {chance.choice(['review', 'planning', 'retro'])} "
        f"{chance.choice(TOWN)}",
        "start": start,
        "end": start[:11] + "23:00:00Z",
        "attendees": [f"{chance.choice(FIRST).lower()}@example.org" for _ in range(3)],
        "location": f"Room {_capitals(chance, 1)}{_digits(chance, 3)}",
        "recurring": False,
    }


def _listed(records: list[JsonObject]) -> JsonValue:
    return [*records]


def _under(*keys: str) -> Callable[[list[JsonObject]], JsonValue]:
    """Under keys, beside a total."""

    def wrap(records: list[JsonObject]) -> JsonValue:
        value: JsonValue = [*records]
        for key in reversed(keys):
            value = {"total": len(records), key: value}
        return value

    return wrap


def _keyed(own_name: str, *, is_flat: bool = False) -> Callable[[list[JsonObject]], JsonValue]:
    """An object of records, or of their single values, by name."""

    def wrap(records: list[JsonObject]) -> JsonValue:
        keyed: JsonObject = {}
        for record in records:
            rest = {key: value for key, value in record.items() if key != own_name}
            keyed[str(record[own_name])] = next(iter(rest.values())) if is_flat else rest
        return keyed

    return wrap


def _in_groups(records: list[JsonObject]) -> JsonValue:
    groups = [records[at : at + 5] for at in range(0, len(records), 5)]
    return {"Reservations": [{"Owner": "77", "Instances": [*group]} for group in groups]}


def _rows(records: list[JsonObject]) -> JsonValue:
    return {"columns": [*records[0]], "rows": [[*record.values()] for record in records]}


SHAPES: Final = (
    Shape(
        name="packages",
        record=_package,
        own_name="name",
        wrap=_listed,
        questions=[
            ("plain", "Which version of {0} is installed?", "version"),
            ("two records", "Which versions of {0} and {1} do we have?", "version"),
            ("Chinese", "{0} 装的是哪个版本？", "version"),
        ],
    ),
    Shape(
        name="dependencies",
        record=_dependency,
        own_name="name",
        wrap=lambda records: {"name": "shop", "dependencies": _keyed("name")(records)},
        questions=[
            ("plain", "What version of {0} does the lock file pin?", "version"),
            ("two records", "Compare the versions of {0} and {1}", "version"),
        ],
    ),
    Shape(
        name="users",
        record=_user,
        own_name="name",
        wrap=_under("users"),
        questions=[
            ("plain", "What is the email of {0}?", "email"),
            ("other words", "When did {0} log in last?", "last_login"),
            ("two records", "I need the ids of {0} and {1}", "id"),
        ],
    ),
    Shape(
        name="orders",
        record=_order,
        own_name="order_id",
        wrap=_under("data", "orders"),
        questions=[
            ("plain", "Please give me the tracking number of order {0}.", "tracking_number"),
            ("other words", "When will order {0} be delivered?", "estimated_delivery"),
            ("two records", "What do {0} and {1} cost in total?", "total"),
            ("Chinese", "订单 {0} 的 tracking_number 是多少？", "tracking_number"),
        ],
    ),
    Shape(
        name="products",
        record=_product,
        own_name="title",
        wrap=_under("products"),
        questions=[
            ("plain", "What is the price of the {0}?", "price/amount"),
            ("other words", "How many of the {0} are stocked?", "stock"),
            ("two records", "Prices of {0} and {1}, please", "price/amount"),
        ],
    ),
    Shape(
        name="flights",
        record=_flight,
        own_name="flight_number",
        wrap=_listed,
        questions=[
            ("plain", "What does business on {0} cost?", "prices/business"),
            ("other words", "When does {0} depart?", "departure_time"),
            ("two records", "Departure time of {0} and {1}?", "departure_time"),
        ],
    ),
    Shape(
        name="log records",
        record=_log_record,
        own_name="trace_id",
        wrap=_under("entries"),
        questions=[
            ("plain", "How long was the duration of trace {0}?", "duration_ms"),
            ("other words", "When was {0}?", "ts"),
        ],
    ),
    Shape(
        name="files",
        record=_file,
        own_name="path",
        wrap=_under("tree"),
        questions=[
            ("plain", "What size does {0} have?", "size"),
            ("two records", "Give me the sha of {0} and of {1}", "sha"),
        ],
    ),
    Shape(
        name="settings",
        record=_setting,
        own_name="name",
        wrap=_keyed("name", is_flat=True),
        questions=[
            ("plain", "What is {0} set to?", "value"),
            ("two records", "Check {0} and {1}", "value"),
            ("Chinese", "{0} 的值是多少？", "value"),
        ],
    ),
    Shape(
        name="services",
        record=_service,
        own_name="name",
        wrap=lambda records: {"services": _keyed("name")(records)},
        questions=[
            ("plain", "Which port does {0} listen on?", "listen/port"),
            ("other words", "Where is the image of {0} from?", "image"),
        ],
    ),
    Shape(
        name="pods",
        record=_pod,
        own_name="metadata/name",
        wrap=_under("items"),
        questions=[
            ("plain", "What is the pod IP of {0}?", "status/podIP"),
            ("other words", "When was {0} started?", "status/startTime"),
        ],
    ),
    Shape(
        name="issues",
        record=_issue,
        own_name="title",
        wrap=_listed,
        questions=[
            ("plain", 'What is the number of the issue "{0}"?', "number"),
            ("other words", "Which user wrote that {0}?", "user/login"),
        ],
    ),
    Shape(
        name="weather",
        record=_weather,
        own_name="city",
        wrap=_keyed("city"),
        questions=[
            ("plain", "What is the humidity in {0}?", "humidity"),
            ("other words", "How windy is {0}?", "wind/speed_kph"),
            ("two records", "Is the temp of {0} higher than that of {1}?", "temp_c"),
        ],
    ),
    Shape(
        name="shares",
        record=_share,
        own_name="symbol",
        wrap=_under("result", "quotes"),
        questions=[
            ("plain", "What is the volume of {0}?", "volume"),
            ("two records", "Which has the higher price, {0} or {1}?", "price"),
        ],
    ),
    Shape(
        name="employees",
        record=_employee,
        own_name="姓名",
        wrap=_under("员工"),
        questions=[
            ("Chinese", "{0}的电话是多少？", "电话"),
            ("Chinese", "请问{0}是哪天入职的？", "入职日期"),
        ],
    ),
    Shape(
        name="Chinese orders",
        record=_han_order,
        own_name="订单号",
        wrap=_under("结果", "订单"),
        questions=[
            ("Chinese", "查一下订单{0}的物流单号", "物流单号"),
            ("Chinese", "{0}这个订单多少钱，价格对吗？", "价格"),
            ("two records", "{0}和{1}的物流到哪了？", "物流单号"),
        ],
    ),
    Shape(
        name="rows",
        record=_account,
        own_name="account_no",
        wrap=_rows,
        questions=[
            ("plain", "What is the balance of {0}?", "balance"),
            ("other words", "When was {0} opened?", "opened"),
        ],
    ),
    Shape(
        name="instances",
        record=_instance,
        own_name="InstanceId",
        wrap=_in_groups,
        questions=[
            ("plain", "private IP address of {0}", "PrivateIpAddress"),
            ("other words", "When was {0} launched?", "LaunchTime"),
        ],
    ),
    Shape(
        name="names of hosts",
        record=_entry,
        own_name="name",
        wrap=_under("records"),
        questions=[("plain", "Where does {0} point to?", "value")],
    ),
    Shape(
        name="texts",
        record=_text,
        own_name="key",
        wrap=lambda records: {"en": _keyed("key", is_flat=True)(records)},
        questions=[("plain", "What does the label {0} say?", "text")],
    ),
    Shape(
        name="jobs",
        record=_job,
        own_name="name",
        wrap=_under("jobs"),
        questions=[
            ("plain", "When was {0} started?", "started_at"),
            ("other words", "Which runner ran {0}?", "runner_name"),
        ],
    ),
    Shape(
        name="meetings",
        record=_meeting,
        own_name="title",
        wrap=_under("events"),
        questions=[
            ("plain", "What is the location of {0}?", "location"),
            ("other words", "When does the {0} meeting start?", "start"),
        ],
    ),
)
