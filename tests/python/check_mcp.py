"""The official client of the Model Context Protocol against `kforge mcp`: every tool, progress, cancellation, mistakes.

    check_mcp.py KFORGE ROOT
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

KERNEL = """#include "task.h"
extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : %s;
}
"""


def field(result, old, new):
    """Names of fields differ between the client's major versions: structuredContent, structured_content."""
    return getattr(result, old, None) if hasattr(result, old) else getattr(result, new)


def failed(result):
    return field(result, "isError", "is_error")


def structured(result):
    return field(result, "structuredContent", "structured_content")


def text(result):
    return result.content[0].text


async def check_lists(session):
    tools = (await session.list_tools()).tools
    names = [tool.name for tool in tools]
    assert "evaluate_kernel" in names and "start_forge" in names, names
    assert all(len(tool.description) < 2000 for tool in tools)
    assert len((await session.list_prompts()).prompts) == 2
    got = await session.get_prompt("optimise", {"task": "core/relu"})
    assert "core/relu" in got.messages[0].content.text
    resources = (await session.list_resources()).resources
    assert any(str(one.uri) == "kforge://platform/cpu/notes" for one in resources)
    notes = await session.read_resource("kforge://platform/cpu/notes")
    assert len(notes.contents[0].text) > 100


async def check_reading(session):
    assert any(task["name"].endswith("relu") for task in structured(await session.call_tool("list_tasks", {}))["tasks"])
    assert "task.h" in text(await session.call_tool("show_task", {"task": "core/relu"}))
    assert structured(await session.call_tool("list_platforms", {}))["platforms"]
    contract = text(await session.call_tool("kernel_contract", {"task": "core/relu", "shapes": "small"}))
    assert "task.h" in contract and "evaluate_kernel" in contract
    assert "CHANGE:" not in contract, "how models reply is of no use here"
    for wrong in ({"task": "core/rleu"}, {"task": "../../etc/passwd"}, {"task": "--help"}, {}):
        answer = await session.call_tool("show_task", wrong)
        assert failed(answer), (wrong, answer)


async def check_writing(session):
    """As an assistant works: a wrong kernel, what is wrong with it, a right one, the stored result."""
    arguments = {"task": "core/relu", "shapes": "small", "baselines": ["none"], "check_only": True}
    wrong = structured(await session.call_tool("evaluate_kernel", {**arguments, "source": KERNEL % "1"}))
    assert wrong["outcome"] != "passed" and "must be" in wrong["reason"], wrong
    broken = structured(await session.call_tool("evaluate_kernel", {**arguments, "source": "int main("}))
    assert broken["outcome"] == "compile_error", broken
    seen = []

    async def on_progress(progress, total, message):
        seen.append((progress, message))

    del arguments["check_only"]
    right = await session.call_tool(
        "evaluate_kernel", {**arguments, "source": KERNEL % "0"}, progress_callback=on_progress
    )
    report = structured(right)
    assert report["outcome"] == "passed" and text(right).startswith("passed; "), report
    assert seen == sorted(seen), seen
    source = await session.call_tool("show_result", {"id": report["id"], "source": True})
    assert "y[i]" in text(source)
    shown = structured(await session.call_tool("show_result", {"id": report["id"]}))
    assert shown["id"] == report["id"]
    listed = structured(await session.call_tool("list_results", {"limit": 5}))
    assert any(one["id"] == report["id"] for one in listed["results"]), listed
    compared = await session.call_tool("compare", {"a": report["id"], "b": report["id"], "no_time": True})
    assert not failed(compared), compared
    both = await session.call_tool("evaluate_kernel", {**arguments, "source": "x", "path": "y"})
    assert failed(both)
    missing = await session.call_tool("analyse_profile", {"profile": "no_such_file"})
    assert failed(missing)


async def check_jobs(session):
    started = structured(
        await session.call_tool(
            "start_forge", {"task": "core/relu", "shapes": "small", "baselines": ["none"], "budget_s": 600}
        )
    )
    status = structured(await session.call_tool("job_status", {"job": started["job"], "wait_s": 1}))
    assert status["job_state"] == "running", status
    await session.call_tool("stop_job", {"job": started["job"]})
    for _ in range(10):
        status = structured(await session.call_tool("job_status", {"job": started["job"], "wait_s": 25})) or {}
        if status.get("job_state") != "running":
            break
    assert status.get("job_state") == "ended", status
    assert failed(await session.call_tool("job_status", {"job": "none"}))


async def check_cancelling(session):
    """A call that is given up leaves the server in order."""
    call = asyncio.create_task(session.call_tool("evaluate_kernel", {"task": "core/matmul", "source": KERNEL % "0"}))
    await asyncio.sleep(0.5)
    call.cancel()
    try:
        await call
    except asyncio.CancelledError:
        pass
    assert structured(await session.call_tool("list_platforms", {}))["platforms"]


async def talk(kforge, root, checks):
    server = StdioServerParameters(command=kforge, args=["mcp", "--root", root], env=dict(os.environ))
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            for check in checks:
                await check(session)


async def main(kforge, root):
    # Two clients at once, each with a server of its own, on one store.
    await asyncio.gather(
        talk(kforge, root, [check_lists, check_reading, check_cancelling]), talk(kforge, root, [check_writing, check_jobs])
    )
    print("mcp ok")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
