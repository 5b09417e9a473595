"""The codes of problems with messages, lists of messages, tools and other arguments."""

from __future__ import annotations

from ctxcore.reasons.values import Code


class MessageProblem(Code):
    """Why a value is not a message, or not one that the library reads."""

    OBJECT = "message.object", "expected an object, got {kind}"
    TEXT = "message.text", "expected text, got {kind}"
    BASE64 = "message.base64", "expected base64 text, got {kind}"
    CONTENT = "message.content", "expected text, a list of parts or null, got {kind}"
    TEXT_OR_LIST = "message.text_or_list", "expected text or a list, got {value!r}"
    LIST = "message.list", "expected a list"
    MISSING = "message.missing", "is missing"
    DEEP = "message.deep", "is nested too deeply"
    NOT_JSON = "message.not_json", "is not JSON: {reason}"
    ROLE = "message.role", "{value!r} is not one of {names}"
    FUNCTION = "message.function", "a tool call needs a function name"
    CALL_NAME = "message.call_name", "a call needs a name"
    FUNCTION_CALL_NAME = "message.function_call_name", "a function call needs a name"
    TWO_THINGS = "message.two_things", "contains {names}; make each a separate part"
    NO_PARTS = "message.no_parts", "has no parts (keys: {keys})"
    NO_TYPE = "message.no_type", "has no type (keys: {keys}); add a 'type'"
    BOTH_CONTENTS = (
        "message.both_contents",
        "has both content and Gemini's parts; leave one of them out",
    )
    WORDS_ELSEWHERE = (
        "message.words_elsewhere",
        "has no {key}, but text under {keys}; rename the key to {key!r}",
    )
    SEVERAL = (
        "message.several",
        "contains {count} messages where one is expected; append them instead",
    )
    OTHER_SHAPE = (
        "message.other_shape",
        "is in {maker} format, the messages before it in {other}; convert one of them",
    )
    WITH_WAY_OUT = "message.way_out", "{what}; {way_out}"
    IN_LIST = "message.in_list", "{problem}, and put it into a list"


class WhatCode(Code):
    """What was passed in place of a message."""

    TEXT = "what.text", "is text"
    BYTES = "what.bytes", "is bytes"
    OBJECT = "what.object", "is an object"
    KEYS = "what.keys", "is an object with the keys {keys}"
    VALUE = "what.value", "is {value!r}"
    INSTANCE = "what.instance", "is a {kind}"
    INSTANCE_OF = "what.instance_of", "is a {kind} of {library}"
    UNKNOWN = "what.unknown", "is not a message in a known format"
    UNKNOWN_TYPE = "what.unknown_type", "is of an unknown type, {kind!r}"
    LOOKS_LIKE = "what.looks_like", "looks like {form}"
    LOOKS_LIKE_PART = "what.looks_like_part", "looks like a part of {form}"


class FormCode(Code):
    """Message formats that the library recognizes but does not read."""

    LANGCHAIN_SERIALIZED = "form.langchain_serialized", "an object that LangChain serialized"
    LANGCHAIN_DUMPED = "form.langchain_dumped", "a message that LangChain dumped"
    SHAREGPT = "form.sharegpt", "a ShareGPT message"
    PYDANTIC_AI = "form.pydantic_ai", "a Pydantic AI message"
    VERCEL = "form.vercel", "a UI message of the Vercel AI SDK"
    CLAUDE_CODE = "form.claude_code", "a record of a Claude Code session"
    GEMINI_CLI = "form.gemini_cli", "a record of Gemini CLI"
    ADK = "form.adk", "an event of Google's ADK"
    AGENT_ITEM = "form.agent_item", "an item of an agent's run"
    GEMINI_NO_LIST = "form.gemini_no_list", "Gemini content whose parts are not a list"
    GEMINI_IN_CONTENT = (
        "form.gemini_in_content",
        "a message with Gemini's parts under the key 'content'",
    )
    GEMINI_PART_IN_CONTENT = (
        "form.gemini_part_in_content",
        "message with Gemini's parts under the key 'content'",
    )
    BEDROCK = "form.bedrock", "a Bedrock Converse message"
    BEDROCK_PART = "form.bedrock_part", "Bedrock Converse message"
    CHATGPT = "form.chatgpt", "a node of a ChatGPT export"
    ANSWER = "form.answer", "a model's whole answer"
    CODEX = "form.codex", "a record of a Codex rollout"
    CONVERSATION = "form.conversation", "a whole conversation"
    SHAREGPT_CONVERSATION = "form.sharegpt_conversation", "a whole ShareGPT conversation"
    TOOL = "form.tool", "one tool call or definition"
    CHOICE = "form.choice", "a choice of a model's answer"
    COHERE = "form.cohere", "a Cohere message"
    GEMINI_PART = "form.gemini_part", "a Gemini part"
    PART = "form.part", "one content part"
    REQUEST = "form.request", "a request body"
    MESSAGE = "form.message", "one message"


_CONVERT = "langchain_core.messages.convert_to_openai_messages"


class WayOutCode(Code):
    """How to turn a value of another format into messages."""

    EXPECTED = (
        "way_out.expected",
        "expected a message of OpenAI's chat or Responses API, Anthropic's or Gemini's, or a "
        "Message",
    )
    DUMP = "way_out.dump", "call its .model_dump(exclude_none=True) first"
    LANGCHAIN = "way_out.langchain", f"pass it through {_CONVERT} first"
    LANGCHAIN_LOAD = (
        "way_out.langchain_load",
        f"load it with langchain_core.load.load, then pass it through {_CONVERT} first",
    )
    LANGCHAIN_READ = (
        "way_out.langchain_read",
        "read it with langchain_core.messages.messages_from_dict, then pass it through "
        f"{_CONVERT} first",
    )
    LANGCHAIN_FLAT = (
        "way_out.langchain_flat",
        f"put name and arguments into it, or pass messages of LangChain's through {_CONVERT} first",
    )
    HAYSTACK = "way_out.haystack", "call its .to_openai_dict_format() first"
    LLAMA_INDEX = (
        "way_out.llama_index",
        "pass it through llama_index.llms.openai.utils.to_openai_message_dicts first",
    )
    TO_DICT = "way_out.to_dict", "call its .to_dict() first"
    ASDICT = (
        "way_out.asdict",
        "convert it with dataclasses.asdict first, if it has the fields of a message",
    )
    PARTS_AS_MESSAGES = (
        "way_out.parts_as_messages",
        'write its parts as {{"role": …, "content": …}} dictionaries first',
    )
    SHAREGPT = (
        "way_out.sharegpt",
        'write {{"role": …, "content": …}}: human is user, gpt is assistant',
    )
    SHAREGPT_TURNS = (
        "way_out.sharegpt_turns",
        'write its turns as {{"role": …, "content": …}}: human is user, gpt is assistant',
    )
    VERCEL = (
        "way_out.vercel",
        "pass the list through convertToModelMessages and write its text parts as content",
    )
    CLAUDE_CODE = (
        "way_out.claude_code",
        'read its file with ctxcore.read_transcripts, or pass its ["message"]',
    )
    GEMINI_CLI = "way_out.gemini_cli", 'write {{"role": "user" or "model", "parts": …}}'
    PASS_KEY = "way_out.pass_key", 'pass its ["{key}"]'
    PASS_ANSWER = "way_out.pass_answer", 'pass its ["choices"][0]["message"]'
    PASS_CANDIDATE = "way_out.pass_candidate", 'pass its ["candidates"][0]["content"]'
    GEMINI_LIST = "way_out.gemini_list", 'write {{"role": …, "parts": [part]}}'
    NAME_PARTS = "way_out.name_parts", "rename the key to 'parts'"
    NAME_CONTENT = (
        "way_out.name_content",
        "rename the key to 'content', and the roles to user and assistant",
    )
    BEDROCK = (
        "way_out.bedrock",
        'give each block a type, as Anthropic does: {{"type": "text", "text": …}}',
    )
    CHATGPT = (
        "way_out.chatgpt",
        'write {{"role": …, "content": …}}: the role is in author.role, the text in content.parts',
    )
    CODEX = (
        "way_out.codex",
        'pass the ["payload"] of each record of the type response_item',
    )
    TOOL = (
        "way_out.tool",
        'put calls under the "tool_calls" of a message, and pass definitions as tools',
    )
    GEMINI_PART = (
        "way_out.gemini_part",
        'put it into a message: {{"role": "user" or "model", "parts": [part]}}',
    )
    PART = "way_out.part", 'put it into a message: {{"role": …, "content": [part]}}'
    INTO_LIST = "way_out.into_list", "put it into a list"
    PASS_LIST = "way_out.pass_list", "pass a list of messages"
    DECODE = "way_out.decode", "decode them, and pass a list of messages"
    WRITE_USER = "way_out.write_user", 'write {{"role": "user", "content": …}}'
    WRITE_LIST = "way_out.write_list", 'pass a list, [{{"role": "user", "content": …}}]'
    PASS_DEFINITIONS = "way_out.pass_definitions", "pass a list of definitions"
    PASS_DEFINITION = "way_out.pass_definition", "pass its definition as an object"
    PASS_TEXTS = "way_out.pass_texts", "pass a mapping of names to texts"
