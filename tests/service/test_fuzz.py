"""Schemathesis over the OpenAPI document: whatever is sent, nothing is an error of the server's own."""

from __future__ import annotations

import pytest
from tests.service.running import SPACE, service

schemathesis = pytest.importorskip("schemathesis")

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("signed_in", [True, False])
def test_no_request_is_an_error_of_the_server(signed_in: bool) -> None:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    with service() as served:
        with served.client(served.write) as client:
            client.post("/api/v1/studies", json={"name": "0", "space": SPACE, "method": "random"})
        schema = schemathesis.openapi.from_url(f"{served.url}/api/v1/openapi.json")
        headers = {"Authorization": f"Bearer {served.write}"} if signed_in else {}
        operations = [result.ok() for result in schema.get_all_operations()]
        assert len(operations) > 15
        for operation in operations:
            if operation.path.endswith("/events"):  # a stream without an end
                continue

            @settings(
                max_examples=40,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(), study=st.sampled_from(["0", None]))
            def check(case, study) -> None:
                if study is not None and "study" in (case.path_parameters or {}):
                    case.path_parameters["study"] = study
                reply = case.call(headers=headers, timeout=60)
                assert reply.status_code < 500, (case.method, case.path, reply.text)
                if not signed_in and not case.path.endswith("/health"):
                    assert reply.status_code in (401, 403, 404, 405, 413), reply.status_code

            check()
