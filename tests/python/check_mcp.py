"""The official client of the Model Context Protocol against `kforge mcp` and `kforge serve`: every tool, progress,
cancellation, mistakes, two clients at once, a client that dies. Works with both major versions of the client.

    check_mcp.py KFORGE ROOT
"""

import asyncio
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from served import Served

try:
    from mcp import Client  # from version 2 on: it speaks the newer era too
except ImportError:
    Client = None

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


TOOLS = """list_tasks show_task list_platforms kernel_contract evaluate_kernel start_session start_forge job_status
stop_job list_results list_runs show_result compare analyse_profile import_module start_suite""".split()


async def check_lists(session):
    tools = (await session.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS, tools
    assert all(len(tool.description) < 2000 for tool in tools)
    # The client holds every answer to the schema that is promised for it.
    assert all(field(tool, "outputSchema", "output_schema")["type"] == "object" for tool in tools)
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

    tuned = "// kforge: tune WIDE=4,8\n#define WIDE 4\n" + KERNEL % "0"
    right = await session.call_tool("evaluate_kernel", {**arguments, "source": tuned}, progress_callback=on_progress)
    report = structured(right)
    assert report["outcome"] == "passed" and text(right).startswith("passed"), report
    assert any("WIDE" in note for note in report["notes"]), "what was not searched is said"
    times = [progress for progress, _ in seen]
    assert times == sorted(set(times)), seen
    assert any("gate" in message or "check" in message or "compil" in message for _, message in seen), seen
    source = await session.call_tool("show_result", {"id": report["id"], "source": True})
    assert "y[i]" in text(source)
    shown = structured(await session.call_tool("show_result", {"id": report["id"]}))
    assert shown["id"] == report["id"]
    listed = structured(await session.call_tool("list_results", {"limit": 10}))
    assert any(one["id"] == report["id"] for one in listed["results"]), listed
    compared = await session.call_tool("compare", {"a": report["id"], "b": report["id"], "no_time": True})
    assert not failed(compared), compared


DEVICE_KERNEL = """kernel void relu(global const float* x, global float* y) {
  size_t i = get_global_id(0);
  y[i] = x[i] > 0 ? x[i] : 0;
}
"""


async def check_device(session):
    """A program for a device has its plan beside it."""
    platforms = structured(await session.call_tool("list_platforms", {}))["platforms"]
    if not any(one["name"] == "opencl" and one["state"] == "ready" for one in platforms):
        return
    arguments = {"task": "core/relu", "shapes": "small", "platform": "opencl", "baselines": ["none"], "check_only": True}
    plan = json.dumps({"run": [{"kernel": "relu", "grid": ["B*D/64"], "block": [64], "args": ["x", "y"]}]})
    both = {**arguments, "source": DEVICE_KERNEL, "plan": plan}
    judged = structured(await session.call_tool("evaluate_kernel", both))
    assert judged["outcome"] == "passed", judged
    alone = structured(await session.call_tool("evaluate_kernel", {**arguments, "source": DEVICE_KERNEL}))
    assert alone["outcome"] != "passed" and "plan.json" in alone["reason"], alone


async def check_mistakes(session):
    """What can be mended is told to the assistant, with what to do."""
    for tool, arguments, words in (
        ("evaluate_kernel", {"task": "core/relu", "source": "x", "path": "y"}, "either"),
        ("evaluate_kernel", {"source": "x"}, "start_session"),
        ("evaluate_kernel", {"task": "core/relu", "path": "x.cc", "plan": "{}"}, "with 'source'"),
        ("evaluate_kernel", {"session": "none", "source": "x"}, "start_session"),
        ("evaluate_kernel", {"task": "core/relu", "path": "../outside.cc"}, "outside"),
        ("analyse_profile", {"profile": "no_such_file"}, "no_such_file"),
        ("import_module", {"path": "no_such.py", "out": "there"}, "no_such.py"),
        ("start_suite", {"suite": "none", "budget_s": 0}, "at least"),
        ("job_status", {"job": "none"}, "list_runs"),
        ("stop_job", {"job": "none"}, "none"),
        ("list_tasks", {"siute": "core"}, "suite"),
    ):
        answer = await session.call_tool(tool, arguments)
        assert failed(answer) and words in text(answer), (tool, arguments, answer)


async def ended(session, job):
    for _ in range(10):
        answer = await session.call_tool("job_status", {"job": job, "wait_s": 25})
        assert not failed(answer), answer
        status = structured(answer)
        if status["job_state"] != "running":
            break
    assert status["job_state"] == "ended", status
    return status


async def check_jobs(session):
    started = structured(
        await session.call_tool(
            "start_forge", {"task": "core/relu", "shapes": "small", "baselines": ["none"], "budget_s": 600}
        )
    )
    status = structured(await session.call_tool("job_status", {"job": started["job"], "wait_s": 1}))
    assert status["job_state"] == "running", status
    await session.call_tool("stop_job", {"job": started["job"]})
    await ended(session, started["job"])


MODULE = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2


def get_inputs():
    return [torch.randn(4, 8)]


def get_init_inputs():
    return []
"""


def put_model(root, name):
    """What import_module is given: a module where Debian's PyTorch is, else a graph."""
    graph = pathlib.Path(__file__).parent.parent / "data/exported/torch2-opset18/mish.onnx"
    torch = "import torch, sys; sys.exit(not torch.__version__)"
    if subprocess.run(["/usr/bin/python3", "-c", torch], stderr=subprocess.DEVNULL).returncode == 0:
        pathlib.Path(root, name + ".py").write_text(MODULE)
        return name + ".py"
    pathlib.Path(root, name + ".onnx").write_bytes(graph.read_bytes())
    return name + ".onnx"


def importing(root):
    """A model becomes a task, and the folder it lies in a suite, which is worked on to its end."""
    path = put_model(root, "net")

    async def check(session):
        answer = await session.call_tool("import_module", {"path": path, "out": "imported/net"})
        assert not failed(answer), answer
        assert structured(answer)["task"]["state"] == "imported", answer
        shown = structured(await session.call_tool("show_task", {"task": "imported/net"}))
        assert shown["flops"] > 0, shown
        again = await session.call_tool("import_module", {"path": path, "out": "../net"})
        assert failed(again) and "outside" in text(again), again
        arguments = {"suite": "imported", "only": "net", "attempts": 1, "baselines": ["none"]}
        started = structured(await session.call_tool("start_suite", arguments))
        report = await ended(session, started["job"])
        assert report["complete"] and report["finished"] == report["of"] == 1, report
        assert report["parts"][0]["score"]["correct"] == 1, report
        shown = structured(await session.call_tool("show_result", {"id": report["suite"]}))
        assert shown["parts"][0]["tasks"][0]["state"] == "verified", shown

    return check


NCU = """"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","1","softmax(float*)","GPU Speed Of Light Throughput","Memory Throughput","%","91.2"
"0","1","softmax(float*)","GPU Speed Of Light Throughput","Compute (SM) Throughput","%","21.5"
"""
PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


class Analyst(http.server.BaseHTTPRequestHandler):
    """A model that reads pictures, as a service speaks: one advice, whatever it is asked."""

    asked = []

    def do_POST(self):
        Analyst.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        advice = {"bottleneck": "gaps between kernels", "evidence": "white bands", "change": "fuse the two kernels"}
        advice |= {"expected_gain": 1.5, "confidence": 0.7, "tag": "fuse"}
        choice = {"index": 0, "message": {"role": "assistant", "content": json.dumps(advice)}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        body = json.dumps({"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *ignored):
        pass


def analysing(root):
    """A table of a profiler by the rules, and the picture of its window by a model."""
    pathlib.Path(root, "ncu.csv").write_text(NCU)
    pathlib.Path(root, "timeline.png").write_bytes(PICTURE)

    async def check(session):
        advice = structured(await session.call_tool("analyse_profile", {"profile": "ncu.csv", "task": "core/softmax"}))
        assert advice["advice"]["by"] == "rules" and "memory" in advice["advice"]["bottleneck"], advice
        alone = await session.call_tool("analyse_profile", {"profile": "timeline.png"})
        assert failed(alone) and "figures, not pictures" in text(alone), alone
        service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Analyst)
        threading.Thread(target=service.serve_forever, daemon=True).start()
        analyst = f"http://127.0.0.1:{service.server_port}/v1#reader"
        answer = await session.call_tool("analyse_profile", {"profile": "timeline.png", "analyst": analyst})
        service.shutdown()
        assert not failed(answer), answer
        assert structured(answer)["advice"]["change"] == "fuse the two kernels", answer
        assert "data:image/png;base64," in json.dumps(Analyst.asked[-1]), "the picture itself is shown to the model"

    return check


async def check_session(session):
    """The assistant as the generation agent: what it hands over are attempts of one run."""
    opened = structured(
        await session.call_tool("start_session", {"task": "core/relu", "shapes": "small", "baselines": ["none"]})
    )
    run = opened["session"]
    evaluate = {"session": run, "change": "first"}
    wrong = structured(await session.call_tool("evaluate_kernel", {**evaluate, "source": KERNEL % "1"}))
    assert wrong["outcome"] == "wrong_value" and wrong["attempt"]["number"] == 1, wrong
    # Far from the limits of every machine: a run that has reached them ends.
    slow = (KERNEL % "0").replace("  for", "  for (volatile int again = 0; again < 400; ++again)\n  for")
    right = structured(await session.call_tool("evaluate_kernel", {**evaluate, "source": slow}))
    assert right["outcome"] == "passed" and right["attempt"]["accepted"], right
    assert right["attempt"]["parent"] == 1 and right["attempt"]["pass"] == "functional", right
    assert right["next"]["pass"] == "optimization", right
    again = await session.call_tool("evaluate_kernel", {**evaluate, "source": slow})
    assert failed(again) and "judged before" in text(again), again
    settled = await session.call_tool("evaluate_kernel", {**evaluate, "task": "core/relu", "source": "x"})
    assert failed(settled) and "settled" in text(settled), settled
    await session.call_tool("stop_job", {"job": run})
    report = await ended(session, run)
    assert [one["outcome"] for one in report["attempts"]][:2] == ["wrong_value", "passed"], report
    listed = structured(await session.call_tool("list_runs", {"limit": 10}))
    assert any(one["id"] == right["run"] and "mailbox" in one["generator"] for one in listed["runs"]), listed
    return run


async def check_cancelling(session):
    """A call that is given up leaves the server in order."""
    call = asyncio.create_task(session.call_tool("evaluate_kernel", {"task": "core/matmul", "source": KERNEL % "0"}))
    await asyncio.sleep(0.5)
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await call
    assert structured(await session.call_tool("list_platforms", {}))["platforms"]


@contextlib.asynccontextmanager
async def session_of(transport, era):
    """A client on a transport: with the handshake, or, from version 2 of the client on, without."""
    if era == "newer":
        async with Client(transport, mode="2026-07-28") as client:
            yield client
        return
    async with transport as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            yield session


def over_stdio(kforge, root):
    return stdio_client(StdioServerParameters(command=kforge, args=["mcp", "--root", root], env=dict(os.environ)))


def over_http(server):
    client = create_mcp_http_client(headers={"Authorization": f"Bearer {server.token}"})
    return streamable_http_client(server.address + "/mcp", http_client=client)


async def talk(transport, era, *checks):
    async with session_of(transport, era) as session:
        return [await check(session) for check in checks]


def children_of(pid):
    """Programs that a process runs, by their first two words."""
    found = []
    for folder in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            with open(f"/proc/{int(folder)}/stat") as stat, open(f"/proc/{int(folder)}/cmdline") as words:
                if int(stat.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(" ".join(words.read().split("\0")[:7]))
    return found


def wait_until(holds, what):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError(what)


CALL = {"name": "evaluate_kernel", "arguments": {"task": "core/matmul", "source": KERNEL % "0"}}


def check_dying_over_http(server):
    """A client that goes away in the middle of a call ends it."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**CALL, "_meta": {**meta, "progressToken": 1}}}
    headers = {
        "Authorization": f"Bearer {server.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "evaluate_kernel",
    }
    connection = http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=60)
    connection.request("POST", "/mcp", json.dumps(body), headers)
    stream = connection.getresponse()
    assert stream.getheader("Content-Type") == "text/event-stream", stream.headers
    assert b"progress" in stream.readline() + stream.readline(), "progress comes first"
    is_judging = lambda: any(" eval" in one for one in children_of(server.process.pid))
    assert is_judging()
    stream.close()
    connection.close()
    wait_until(lambda: not is_judging(), "the call went on without its client")
    # Strangers are kept out: no token, another site.
    for wrong in ({"Authorization": "Bearer x"}, {"Origin": "http://evil.example"}, {"Host": "evil.example"}):
        connection.request("POST", "/mcp", json.dumps(body), {**headers, **wrong})
        answer = connection.getresponse()
        assert answer.status in (401, 403, 421), (wrong, answer.status, answer.read())
        assert answer.getheader("Connection") == "close", "what was sent with it is not read"
        connection.close()


def check_dying_over_stdio(kforge, root):
    """A server whose client is gone ends, and what it had started with it."""
    server = subprocess.Popen([kforge, "mcp", "--root", root], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}
    server.stdin.write(json.dumps(call).encode() + b"\n")
    server.stdin.flush()
    wait_until(lambda: any(" eval" in one for one in children_of(server.pid)), "the call did not begin")
    server.stdin.close()
    server.stdout.close()
    assert server.wait(60) == 0


async def main(kforge, root):
    newer = "newer" if Client else "older"
    with Served(kforge, "--root", root) as server:
        # Clients at once, each over stdio with a server of its own, on one store.
        results = await asyncio.gather(
            talk(over_stdio(kforge, root), "older", check_lists, check_reading, check_cancelling, check_mistakes),
            talk(over_stdio(kforge, root), newer, check_jobs, importing(root)),
            talk(over_http(server), newer, check_lists, check_writing, check_cancelling, check_mistakes, check_device, analysing(root)),
            talk(over_http(server), "older", check_session),
        )
        job = results[3][0]
        # A job of another server is known from the store.
        async with session_of(over_stdio(kforge, root), newer) as other:
            known = structured(await other.call_tool("job_status", {"job": job}))
            assert known["job_state"] in ("stopped", "finished") and known["attempts"], known
        check_dying_over_http(server)
    check_dying_over_stdio(kforge, root)
    print("mcp ok")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
