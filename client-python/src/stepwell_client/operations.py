"""Generated from the OpenAPI document by `npm run docs:generate`."""

from __future__ import annotations

from typing import Any, Callable, Literal, Mapping

from . import models


def family(prefix: str, values: Mapping[str, str] | None) -> dict[str, str]:
    return {f"{prefix}.{name}": value for name, value in (values or {}).items()}


class Operations:
    """Every operation of the service."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def apply_definition_file(
        self,
        body: models.DefinitionFile,
        *,
        dry_run: bool | None = None,
    ) -> models.AppliedDefinitionFile:
        """Apply a definition file."""
        return self._call(
            "POST",
            "/v1/apply",
            repeat="never",
            answer=models.AppliedDefinitionFile,
            query={"dryRun": dry_run},
            body=body,
        )

    def archive_agent(
        self,
        agent_id: str,
        *,
        if_match: str | None = None,
    ) -> models.Archived:
        """Archive an agent."""
        return self._call(
            "DELETE",
            "/v1/agents/{agentId}",
            repeat="always",
            answer=models.Archived,
            parameters={"agentId": agent_id},
            headers={"If-Match": if_match},
        )

    def archive_callback(
        self,
        callback_id: str,
        *,
        if_match: str | None = None,
    ) -> models.Archived:
        """Archive a callback."""
        return self._call(
            "DELETE",
            "/v1/callbacks/{callbackId}",
            repeat="always",
            answer=models.Archived,
            parameters={"callbackId": callback_id},
            headers={"If-Match": if_match},
        )

    def archive_schedule(
        self,
        schedule_id: str,
        *,
        if_match: str | None = None,
    ) -> models.Archived:
        """Archive a schedule."""
        return self._call(
            "DELETE",
            "/v1/schedules/{scheduleId}",
            repeat="always",
            answer=models.Archived,
            parameters={"scheduleId": schedule_id},
            headers={"If-Match": if_match},
        )

    def archive_tool(
        self,
        tool_id: str,
        *,
        if_match: str | None = None,
    ) -> models.Archived:
        """Archive a tool."""
        return self._call(
            "DELETE",
            "/v1/tools/{toolId}",
            repeat="always",
            answer=models.Archived,
            parameters={"toolId": tool_id},
            headers={"If-Match": if_match},
        )

    def archive_trigger(
        self,
        trigger_id: str,
        *,
        if_match: str | None = None,
    ) -> models.Archived:
        """Archive a trigger."""
        return self._call(
            "DELETE",
            "/v1/triggers/{triggerId}",
            repeat="always",
            answer=models.Archived,
            parameters={"triggerId": trigger_id},
            headers={"If-Match": if_match},
        )

    def cancel_agent_run(
        self,
        agent_run_id: str,
    ) -> models.AgentRun | models.RunCancelled:
        """Cancel an agent run."""
        return self._call(
            "POST",
            "/v1/agents/run/{agentRunId}/cancel",
            repeat="always",
            answer=models.AgentRun | models.RunCancelled,
            parameters={"agentRunId": agent_run_id},
        )

    def cancel_run(
        self,
        run_id: str,
    ) -> models.RunRecord | models.RunCancelled:
        """Cancel a run."""
        return self._call(
            "POST",
            "/v1/runs/{runId}/cancel",
            repeat="always",
            answer=models.RunRecord | models.RunCancelled,
            parameters={"runId": run_id},
        )

    def cancel_tool_run(
        self,
        tool_run_id: str,
    ) -> models.ToolRun | models.RunCancelled:
        """Cancel a tool run."""
        return self._call(
            "POST",
            "/v1/tools/run/{toolRunId}/cancel",
            repeat="always",
            answer=models.ToolRun | models.RunCancelled,
            parameters={"toolRunId": tool_run_id},
        )

    def create_agent(
        self,
        body: models.Definition,
        *,
        note: str | None = None,
    ) -> models.Agent:
        """Create an agent."""
        return self._call(
            "POST",
            "/v1/agents",
            repeat="never",
            answer=models.Agent,
            query={"note": note},
            body=body,
        )

    def create_callback(
        self,
        body: models.Definition,
    ) -> models.CreatedCallback:
        """Create a callback."""
        return self._call(
            "POST",
            "/v1/callbacks",
            repeat="never",
            answer=models.CreatedCallback,
            body=body,
        )

    def create_schedule(
        self,
        body: models.Definition,
    ) -> models.Schedule:
        """Create a schedule."""
        return self._call(
            "POST",
            "/v1/schedules",
            repeat="never",
            answer=models.Schedule,
            body=body,
        )

    def create_tool(
        self,
        body: models.Definition,
        *,
        note: str | None = None,
    ) -> models.Tool:
        """Create a tool."""
        return self._call(
            "POST",
            "/v1/tools",
            repeat="never",
            answer=models.Tool,
            query={"note": note},
            body=body,
        )

    def create_trigger(
        self,
        body: models.Definition,
        *,
        generate_secret: bool | None = None,
    ) -> models.CreatedTrigger:
        """Create a trigger."""
        return self._call(
            "POST",
            "/v1/triggers",
            repeat="never",
            answer=models.CreatedTrigger,
            query={"generateSecret": generate_secret},
            body=body,
        )

    def estimate_agent_run(
        self,
        agent_id: str,
        body: models.StartAgentRun,
    ) -> models.StartEstimate:
        """Estimate a run of an agent."""
        return self._call(
            "POST",
            "/v1/agents/{agentId}/estimate",
            repeat="always",
            answer=models.StartEstimate,
            parameters={"agentId": agent_id},
            body=body,
        )

    def estimate_tool_run(
        self,
        tool_id: str,
        body: models.ToolInput | None = None,
    ) -> models.StartEstimate:
        """Estimate a run of a tool."""
        return self._call(
            "POST",
            "/v1/tools/{toolId}/estimate",
            repeat="always",
            answer=models.StartEstimate,
            parameters={"toolId": tool_id},
            body=body,
        )

    def export_definition_file(
        self,
        *,
        format: Literal["json", "yaml"] | None = None,
    ) -> models.DefinitionFile | str:
        """Export a definition file."""
        return self._call(
            "GET",
            "/v1/export",
            repeat="always",
            answer=models.DefinitionFile,
            texts=["application/yaml"],
            query={"format": format},
        )

    def fork_run(
        self,
        run_id: str,
        body: models.ForkRunBody,
        *,
        idempotency_key: str | None = None,
        x_metadata: str | None = None,
        x_max_credits: str | None = None,
        x_deadline_seconds: str | None = None,
        x_callback_url: str | None = None,
    ) -> models.RunStarted | models.ForkEstimate:
        """Fork a run."""
        return self._call(
            "POST",
            "/v1/runs/{runId}/fork",
            repeat="with-key",
            answer=models.RunStarted | models.ForkEstimate,
            parameters={"runId": run_id},
            headers={"Idempotency-Key": idempotency_key, "X-Metadata": x_metadata, "X-Max-Credits": x_max_credits, "X-Deadline-Seconds": x_deadline_seconds, "X-Callback-Url": x_callback_url},
            body=body,
        )

    def get_agent(
        self,
        agent_id: str,
    ) -> models.Agent:
        """Read an agent."""
        return self._call(
            "GET",
            "/v1/agents/{agentId}",
            repeat="always",
            answer=models.Agent,
            parameters={"agentId": agent_id},
        )

    def get_agent_run_details(
        self,
        agent_run_id: str,
    ) -> models.AgentRunDetails:
        """Details of an agent run, with its steps."""
        return self._call(
            "GET",
            "/v1/agents/run/{agentRunId}/details",
            repeat="always",
            answer=models.AgentRunDetails,
            parameters={"agentRunId": agent_run_id},
        )

    def get_agent_run_status(
        self,
        agent_run_id: str,
        *,
        wait: int | None = None,
    ) -> models.AgentRun:
        """Status of an agent run."""
        return self._call(
            "GET",
            "/v1/agents/run/{agentRunId}/status",
            repeat="always",
            answer=models.AgentRun,
            parameters={"agentRunId": agent_run_id},
            query={"wait": wait},
        )

    def get_callback(
        self,
        callback_id: str,
    ) -> models.Callback:
        """Read a callback."""
        return self._call(
            "GET",
            "/v1/callbacks/{callbackId}",
            repeat="always",
            answer=models.Callback,
            parameters={"callbackId": callback_id},
        )

    def get_credits(
        self,
    ) -> models.CreditBalance:
        """Read the balance."""
        return self._call(
            "GET",
            "/v1/credits",
            repeat="always",
            answer=models.CreditBalance,
        )

    def get_metrics(
        self,
        *,
        period: Literal["1h", "24h", "7d", "30d", "90d"] | None = None,
        interval: Literal["2m", "1m", "5m", "1h", "15m", "3h", "6h", "1d", "12h", "3d", "10d"] | None = None,
        first: str | None = None,
        last: str | None = None,
        target: str | None = None,
        trigger: str | None = None,
        key: str | None = None,
        schedule: str | None = None,
    ) -> models.RunMetrics:
        """Metrics of runs."""
        return self._call(
            "GET",
            "/v1/metrics",
            repeat="always",
            answer=models.RunMetrics,
            query={"period": period, "interval": interval, "first": first, "last": last, "target": target, "trigger": trigger, "key": key, "schedule": schedule},
        )

    def get_run(
        self,
        run_id: str,
    ) -> models.RunRecord:
        """Read a run."""
        return self._call(
            "GET",
            "/v1/runs/{runId}",
            repeat="always",
            answer=models.RunRecord,
            parameters={"runId": run_id},
        )

    def get_run_receipt(
        self,
        run_id: str,
    ) -> models.Receipt:
        """Receipt of a run."""
        return self._call(
            "GET",
            "/v1/runs/{runId}/receipt",
            repeat="always",
            answer=models.Receipt,
            parameters={"runId": run_id},
        )

    def get_schedule(
        self,
        schedule_id: str,
    ) -> models.Schedule:
        """Read a schedule."""
        return self._call(
            "GET",
            "/v1/schedules/{scheduleId}",
            repeat="always",
            answer=models.Schedule,
            parameters={"scheduleId": schedule_id},
        )

    def get_tool(
        self,
        tool_id: str,
    ) -> models.Tool:
        """Read a tool."""
        return self._call(
            "GET",
            "/v1/tools/{toolId}",
            repeat="always",
            answer=models.Tool,
            parameters={"toolId": tool_id},
        )

    def get_tool_run_result(
        self,
        tool_run_id: str,
    ) -> models.ToolRunResult:
        """Result of a tool run."""
        return self._call(
            "GET",
            "/v1/tools/run/{toolRunId}/result",
            repeat="always",
            answer=models.ToolRunResult,
            parameters={"toolRunId": tool_run_id},
        )

    def get_tool_run_status(
        self,
        tool_run_id: str,
        *,
        wait: int | None = None,
    ) -> models.ToolRun:
        """Status of a tool run."""
        return self._call(
            "GET",
            "/v1/tools/run/{toolRunId}/status",
            repeat="always",
            answer=models.ToolRun,
            parameters={"toolRunId": tool_run_id},
            query={"wait": wait},
        )

    def get_trigger(
        self,
        trigger_id: str,
    ) -> models.Trigger:
        """Read a trigger."""
        return self._call(
            "GET",
            "/v1/triggers/{triggerId}",
            repeat="always",
            answer=models.Trigger,
            parameters={"triggerId": trigger_id},
        )

    def list_agents(
        self,
        *,
        status: Literal["active", "inactive"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.AgentList:
        """List agents."""
        return self._call(
            "GET",
            "/v1/agents",
            repeat="always",
            answer=models.AgentList,
            query={"status": status, "limit": limit, "cursor": cursor},
        )

    def list_callbacks(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.CallbackList:
        """List callbacks."""
        return self._call(
            "GET",
            "/v1/callbacks",
            repeat="always",
            answer=models.CallbackList,
            query={"limit": limit, "cursor": cursor},
        )

    def list_credit_entries(
        self,
        *,
        kind: Literal["grant", "hold", "charge", "release", "refund", "adjustment"] | None = None,
        holds: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.CreditEntryList:
        """List credit entries."""
        return self._call(
            "GET",
            "/v1/credits/entries",
            repeat="always",
            answer=models.CreditEntryList,
            query={"kind": kind, "holds": holds, "limit": limit, "cursor": cursor},
        )

    def list_deliveries(
        self,
        *,
        trigger: str | None = None,
        outcome: Literal["accepted", "repeated", "rejected", "filtered"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.DeliveryList:
        """List deliveries."""
        return self._call(
            "GET",
            "/v1/deliveries",
            repeat="always",
            answer=models.DeliveryList,
            query={"trigger": trigger, "outcome": outcome, "limit": limit, "cursor": cursor},
        )

    def list_runs(
        self,
        *,
        kind: Literal["agent", "tool"] | None = None,
        status: str | None = None,
        target: str | None = None,
        trigger: str | None = None,
        schedule: str | None = None,
        key: str | None = None,
        source: Literal["api", "webhook", "dashboard", "operator", "run", "draft", "schedule"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        text: str | None = None,
        metadata: Mapping[str, str] | None = None,
        children: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.RunList:
        """List runs."""
        return self._call(
            "GET",
            "/v1/runs",
            repeat="always",
            answer=models.RunList,
            query={"kind": kind, "status": status, "target": target, "trigger": trigger, "schedule": schedule, "key": key, "source": source, "from": from_, "to": to, "text": text, **family("metadata", metadata), "children": children, "limit": limit, "cursor": cursor},
        )

    def list_schedules(
        self,
        *,
        target: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ScheduleList:
        """List schedules."""
        return self._call(
            "GET",
            "/v1/schedules",
            repeat="always",
            answer=models.ScheduleList,
            query={"target": target, "limit": limit, "cursor": cursor},
        )

    def list_tools(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ToolList:
        """List tools."""
        return self._call(
            "GET",
            "/v1/tools",
            repeat="always",
            answer=models.ToolList,
            query={"limit": limit, "cursor": cursor},
        )

    def list_triggers(
        self,
        *,
        target: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.TriggerList:
        """List triggers."""
        return self._call(
            "GET",
            "/v1/triggers",
            repeat="always",
            answer=models.TriggerList,
            query={"target": target, "limit": limit, "cursor": cursor},
        )

    def receive_webhook(
        self,
        token: str,
        body: Any,
        *,
        x_signature: str | None = None,
        idempotency_key: str | None = None,
        webhook_id: str | None = None,
        webhook_timestamp: str | None = None,
        webhook_signature: str | None = None,
    ) -> models.WebhookAccepted | models.WebhookFiltered:
        """Start a run with a webhook trigger."""
        return self._call(
            "POST",
            "/webhooks/{token}",
            repeat="with-key",
            answer=models.WebhookAccepted | models.WebhookFiltered,
            parameters={"token": token},
            headers={"X-Signature": x_signature, "Idempotency-Key": idempotency_key, "webhook-id": webhook_id, "webhook-timestamp": webhook_timestamp, "webhook-signature": webhook_signature},
            body=body,
        )

    def redeliver(
        self,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        x_metadata: str | None = None,
        x_max_credits: str | None = None,
        x_deadline_seconds: str | None = None,
        x_callback_url: str | None = None,
    ) -> models.RunStarted:
        """Redeliver."""
        return self._call(
            "POST",
            "/v1/deliveries/{deliveryId}/redeliver",
            repeat="with-key",
            answer=models.RunStarted,
            parameters={"deliveryId": delivery_id},
            headers={"Idempotency-Key": idempotency_key, "X-Metadata": x_metadata, "X-Max-Credits": x_max_credits, "X-Deadline-Seconds": x_deadline_seconds, "X-Callback-Url": x_callback_url},
        )

    def rerun_run(
        self,
        run_id: str,
        *,
        idempotency_key: str | None = None,
        x_metadata: str | None = None,
        x_max_credits: str | None = None,
        x_deadline_seconds: str | None = None,
        x_callback_url: str | None = None,
    ) -> models.RunStarted:
        """Run again."""
        return self._call(
            "POST",
            "/v1/runs/{runId}/rerun",
            repeat="with-key",
            answer=models.RunStarted,
            parameters={"runId": run_id},
            headers={"Idempotency-Key": idempotency_key, "X-Metadata": x_metadata, "X-Max-Credits": x_max_credits, "X-Deadline-Seconds": x_deadline_seconds, "X-Callback-Url": x_callback_url},
        )

    def run_agent(
        self,
        agent_id: str,
        body: models.StartAgentRun,
        *,
        idempotency_key: str | None = None,
        x_metadata: str | None = None,
        x_max_credits: str | None = None,
        x_deadline_seconds: str | None = None,
        x_callback_url: str | None = None,
    ) -> models.RunStarted:
        """Run an agent."""
        return self._call(
            "POST",
            "/v1/agents/run/{agentId}",
            repeat="with-key",
            answer=models.RunStarted,
            parameters={"agentId": agent_id},
            headers={"Idempotency-Key": idempotency_key, "X-Metadata": x_metadata, "X-Max-Credits": x_max_credits, "X-Deadline-Seconds": x_deadline_seconds, "X-Callback-Url": x_callback_url},
            body=body,
        )

    def run_tool(
        self,
        tool_id: str,
        body: models.ToolInput | None = None,
        *,
        idempotency_key: str | None = None,
        x_metadata: str | None = None,
        x_max_credits: str | None = None,
        x_deadline_seconds: str | None = None,
        x_callback_url: str | None = None,
    ) -> models.RunStarted:
        """Run a tool."""
        return self._call(
            "POST",
            "/v1/tools/run/{toolId}",
            repeat="with-key",
            answer=models.RunStarted,
            parameters={"toolId": tool_id},
            headers={"Idempotency-Key": idempotency_key, "X-Metadata": x_metadata, "X-Max-Credits": x_max_credits, "X-Deadline-Seconds": x_deadline_seconds, "X-Callback-Url": x_callback_url},
            body=body,
        )

    def update_agent(
        self,
        agent_id: str,
        body: models.Definition,
        *,
        if_match: str | None = None,
        note: str | None = None,
    ) -> models.Agent:
        """Change an agent."""
        return self._call(
            "PATCH",
            "/v1/agents/{agentId}",
            repeat="never",
            answer=models.Agent,
            parameters={"agentId": agent_id},
            query={"note": note},
            headers={"If-Match": if_match},
            body=body,
        )

    def update_callback(
        self,
        callback_id: str,
        body: models.Definition,
        *,
        if_match: str | None = None,
    ) -> models.Callback:
        """Change a callback."""
        return self._call(
            "PATCH",
            "/v1/callbacks/{callbackId}",
            repeat="never",
            answer=models.Callback,
            parameters={"callbackId": callback_id},
            headers={"If-Match": if_match},
            body=body,
        )

    def update_schedule(
        self,
        schedule_id: str,
        body: models.Definition,
        *,
        if_match: str | None = None,
    ) -> models.Schedule:
        """Change a schedule."""
        return self._call(
            "PATCH",
            "/v1/schedules/{scheduleId}",
            repeat="never",
            answer=models.Schedule,
            parameters={"scheduleId": schedule_id},
            headers={"If-Match": if_match},
            body=body,
        )

    def update_tool(
        self,
        tool_id: str,
        body: models.Definition,
        *,
        if_match: str | None = None,
        note: str | None = None,
    ) -> models.Tool:
        """Change a tool."""
        return self._call(
            "PATCH",
            "/v1/tools/{toolId}",
            repeat="never",
            answer=models.Tool,
            parameters={"toolId": tool_id},
            query={"note": note},
            headers={"If-Match": if_match},
            body=body,
        )

    def update_trigger(
        self,
        trigger_id: str,
        body: models.Definition,
        *,
        if_match: str | None = None,
    ) -> models.Trigger:
        """Change a trigger."""
        return self._call(
            "PATCH",
            "/v1/triggers/{triggerId}",
            repeat="never",
            answer=models.Trigger,
            parameters={"triggerId": trigger_id},
            headers={"If-Match": if_match},
            body=body,
        )
