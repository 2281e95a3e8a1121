"""Activates the utlz agent of this very process and deactivates it, through its ring's control words.

The agent maps its ring into this process (proto/ring_abi.h); a request written there is the same
as one from the collector. For the bench alone: it needs no part of utlz but the layout.
"""

import ctypes
import re
import time

RING_MAGIC = 0x31474E525A4C5455
INACTIVE, TRACING = 0, 1

# Offsets in RingHeader.
STATE = 64 + 40
ACKNOWLEDGED_REQUEST = 64 + 56
REQUEST = 384
REQUESTED_STATE = 384 + 8
OVERHEAD_BUDGET_PPM = 384 + 16


class AgentControl:

    def __init__(self, timeout_s=30):
        self.timeout_s = timeout_s
        deadline = time.monotonic() + timeout_s
        while (address := _ring_address()) is None:
            if time.monotonic() > deadline:
                raise LookupError("no utlz ring in this process: start it under `utlz run`")
            time.sleep(0.01)
        self.address = address

    def request(self, state, budget_ppm):
        """Asks for a state and waits until the agent has carried the request out."""
        ctypes.c_uint32.from_address(self.address + REQUESTED_STATE).value = state
        ctypes.c_uint32.from_address(self.address + OVERHEAD_BUDGET_PPM).value = budget_ppm
        word = ctypes.c_uint64.from_address(self.address + REQUEST)
        word.value += 1
        wanted = word.value
        deadline = time.monotonic() + self.timeout_s
        while ctypes.c_uint64.from_address(self.address + ACKNOWLEDGED_REQUEST).value < wanted:
            if time.monotonic() > deadline:
                raise TimeoutError("the agent did not acknowledge; did its thread die?")
            time.sleep(0.001)
        return ctypes.c_uint32.from_address(self.address + STATE).value


def _ring_address():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            match = re.match(r"([0-9a-f]+)-[0-9a-f]+ rw.s .*memfd:", line)
            if not match:
                continue
            address = int(match.group(1), 16)
            if ctypes.c_uint64.from_address(address).value == RING_MAGIC:
                return address
    return None
