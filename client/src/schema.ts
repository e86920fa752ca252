// Generated from the OpenAPI document by `npm run docs:generate`.

export interface paths {
    "/v1/tools/run/{toolId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run a tool */
        post: operations["runTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/{toolId}/estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Estimate a run of a tool */
        post: operations["estimateToolRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/run/{toolRunId}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Status of a tool run */
        get: operations["getToolRunStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/run/{toolRunId}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Result of a tool run */
        get: operations["getToolRunResult"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/run/{toolRunId}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events of a tool run */
        get: operations["followToolRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/run/{toolRunId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a tool run */
        post: operations["cancelToolRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List tools */
        get: operations["listTools"];
        put?: never;
        /** Create a tool */
        post: operations["createTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/{toolId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a tool */
        get: operations["getTool"];
        put?: never;
        post?: never;
        /** Archive a tool */
        delete: operations["archiveTool"];
        options?: never;
        head?: never;
        /** Change a tool */
        patch: operations["updateTool"];
        trace?: never;
    };
    "/v1/agents/run/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run an agent */
        post: operations["runAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/estimate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Estimate a run of an agent */
        post: operations["estimateAgentRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/run/{agentRunId}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Status of an agent run */
        get: operations["getAgentRunStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/run/{agentRunId}/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Details of an agent run, with its steps */
        get: operations["getAgentRunDetails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/run/{agentRunId}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events of an agent run */
        get: operations["followAgentRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/run/{agentRunId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel an agent run */
        post: operations["cancelAgentRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List agents */
        get: operations["listAgents"];
        put?: never;
        /** Create an agent */
        post: operations["createAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an agent */
        get: operations["getAgent"];
        put?: never;
        post?: never;
        /** Archive an agent */
        delete: operations["archiveAgent"];
        options?: never;
        head?: never;
        /** Change an agent */
        patch: operations["updateAgent"];
        trace?: never;
    };
    "/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{runId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a run */
        get: operations["getRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{runId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a run */
        post: operations["cancelRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{runId}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run again */
        post: operations["rerunRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{runId}/receipt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Receipt of a run */
        get: operations["getRunReceipt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{runId}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Fork a run */
        post: operations["forkRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics of runs */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List triggers */
        get: operations["listTriggers"];
        put?: never;
        /** Create a trigger */
        post: operations["createTrigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/triggers/{triggerId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a trigger */
        get: operations["getTrigger"];
        put?: never;
        post?: never;
        /** Archive a trigger */
        delete: operations["archiveTrigger"];
        options?: never;
        head?: never;
        /** Change a trigger */
        patch: operations["updateTrigger"];
        trace?: never;
    };
    "/v1/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List deliveries */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Redeliver */
        post: operations["redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List schedules */
        get: operations["listSchedules"];
        put?: never;
        /** Create a schedule */
        post: operations["createSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{scheduleId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a schedule */
        get: operations["getSchedule"];
        put?: never;
        post?: never;
        /** Archive a schedule */
        delete: operations["archiveSchedule"];
        options?: never;
        head?: never;
        /** Change a schedule */
        patch: operations["updateSchedule"];
        trace?: never;
    };
    "/v1/callbacks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List callbacks */
        get: operations["listCallbacks"];
        put?: never;
        /** Create a callback */
        post: operations["createCallback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/callbacks/{callbackId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a callback */
        get: operations["getCallback"];
        put?: never;
        post?: never;
        /** Archive a callback */
        delete: operations["archiveCallback"];
        options?: never;
        head?: never;
        /** Change a callback */
        patch: operations["updateCallback"];
        trace?: never;
    };
    "/v1/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Apply a definition file */
        post: operations["applyDefinitionFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Export a definition file */
        get: operations["exportDefinitionFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the balance */
        get: operations["getCredits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credits/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List credit entries */
        get: operations["listCreditEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a run with a webhook trigger */
        post: operations["receiveWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The tool's input. The service checks it against the tool's own parameter schema. */
        ToolInput: {
            [key: string]: unknown;
        };
        /** @description The entry of a definition file, as JSON. Fields with their default value are left out. */
        Definition: {
            [key: string]: unknown;
        };
        StartAgentRun: {
            /** @description At least one character, at most 256 KiB in UTF-8, without U+0000 */
            userMessage: string;
        };
        ForkChanges: {
            /** @description Of an agent */
            systemPrompt?: string;
            /** @description Of an agent */
            model?: string;
            /** @description Of an agent */
            userMessage?: string;
            /** @description Replaces the arguments of the step's call */
            input?: {
                [key: string]: unknown;
            };
            /** @description Replaces the step's output; the step is not executed */
            output?: unknown;
            /** @description The version of the tool: of a tool's run, or of the tool that the agent's step calls */
            toolVersion?: number;
        };
        /**
         * @description A closed list
         * @enum {string}
         */
        ApiErrorCode: "invalid_request" | "agent_inactive" | "insufficient_credits" | "trigger_misconfigured" | "unauthenticated" | "invalid_signature" | "api_access_disabled" | "forbidden" | "organization_suspended" | "not_found" | "method_not_allowed" | "conflict" | "idempotency_conflict" | "precondition_failed" | "payload_too_large" | "rate_limited" | "internal_error";
        ApiIssue: {
            /** @description JSON pointer into the input */
            path: string;
            /** @description For people */
            message: string;
        };
        RunStarted: {
            success: boolean;
            /**
             * Format: uuid
             * @description The new run's id, for polling
             */
            id: string;
            /** @constant */
            status: "Pending";
            /** @description For people */
            message: string;
        };
        StartEstimate: {
            /** @description The credits that the start would hold, such as 0.4210 */
            hold: string;
            /** @description The most that the run can use, such as 1.0000. Null: only the balance limits it */
            mostCredits: string | null;
            /** @description What would reject the start; empty if nothing does */
            issues: {
                code: components["schemas"]["ApiErrorCode"];
                /** @description For people; may change */
                message: string;
                /** @description JSON pointer into the tool's input */
                path?: string;
            }[];
        };
        ToolRun: {
            /**
             * Format: uuid
             * @description Tool run id
             */
            id: string;
            /**
             * Format: uuid
             * @description Tool that was run
             */
            toolId: string;
            status: components["schemas"]["ToolRunStatus"];
            statusInt: components["schemas"]["ToolRunStatusInt"];
            /** @description Null unless status is Failed */
            errorMessage: string | null;
            /** @description Input and output tokens of all model calls */
            tokensUsed: number;
            /** @description Functions executed, retries not counted */
            actionsUsed: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            createdAt: string;
            /** @description Null until the run is Running */
            startedAt: string | null;
            /** @description Null until the run has ended */
            finishedAt: string | null;
            /** @description Milliseconds: 0 while pending, elapsed while running, then final */
            duration: number;
        };
        /**
         * @description Completed and Failed are terminal. A cancelled tool run is Failed, with “Cancelled by …”
         * @enum {string}
         */
        ToolRunStatus: "Pending" | "Running" | "Completed" | "Failed";
        /**
         * @description 0 Pending, 1 Running, 2 Completed, 3 Failed
         * @enum {integer}
         */
        ToolRunStatusInt: 0 | 1 | 2 | 3;
        ToolRunResult: {
            /**
             * Format: uuid
             * @description Tool run id
             */
            id: string;
            /**
             * Format: uuid
             * @description Tool that was run
             */
            toolId: string;
            /** @description Display name of the tool */
            toolName: string;
            status: components["schemas"]["ToolRunStatus"];
            statusInt: components["schemas"]["ToolRunStatusInt"];
            /** @description The input, a JSON document in a string */
            inputData: string;
            /** @description The output, a JSON document in a string; "null" unless status is Completed */
            outputData: string;
            /** @description JSON Schema of the output in a string: the tool's own, or inferred from the output */
            outputSchema: string;
            /** @description Null unless status is Failed */
            errorMessage: string | null;
            tokensUsed: number;
            actionsUsed: number;
            /** @description Milliseconds */
            duration: number;
        };
        RunCancelled: {
            success: boolean;
            /**
             * Format: uuid
             * @description The run's id
             */
            id: string;
            status: components["schemas"]["AgentRunStatus"];
            /** @description For people */
            message: string;
        };
        /**
         * @description Completed, Failed and Cancelled are terminal: such a run never changes
         * @enum {string}
         */
        AgentRunStatus: "Pending" | "Running" | "Completed" | "Failed" | "Cancelled";
        ToolList: {
            data: components["schemas"]["ToolListItem"][];
            /** @description The cursor of the next page; null at the end */
            nextCursor: string | null;
            /** @description The filters and the limit of the page */
            applied: {
                limit: number;
            };
        };
        ToolListItem: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            /** @description The current one */
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            description: string;
        };
        Tool: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            /** @description The current one */
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            description: string;
            definition: components["schemas"]["Definition"];
            /** @description Newest first, at most 100 */
            versions: components["schemas"]["Version"][];
        };
        Version: {
            number: number;
            note: string;
            /** Format: date-time */
            createdAt: string;
        };
        Archived: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            archivedAt: string;
        };
        AgentRun: {
            /**
             * Format: uuid
             * @description Agent run id
             */
            id: string;
            /**
             * Format: uuid
             * @description Agent that was run
             */
            agentId: string;
            status: components["schemas"]["AgentRunStatus"];
            /** @description The message the run was started with */
            userMessage: string;
            /** @description Null unless status is Completed. JSON text if the agent has an output schema */
            finalOutput: string | null;
            /** @description Null unless status is Failed */
            errorMessage: string | null;
            /** @description Number of finished steps */
            stepsExecuted: number;
            /** @description Input and output tokens of all model calls */
            tokensUsed: number;
            /** @description Functions and tools executed, retries not counted */
            actionsUsed: number;
            /** @description Credits consumed, with four decimal places */
            creditsUsed: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            createdAt: string;
            /** @description Null until the run is Running */
            startedAt: string | null;
            /** @description Null until the run has ended */
            finishedAt: string | null;
        };
        AgentRunDetails: {
            /**
             * Format: uuid
             * @description Agent run id
             */
            id: string;
            /**
             * Format: uuid
             * @description Agent that was run
             */
            agentId: string;
            status: components["schemas"]["AgentRunStatus"];
            /** @description The message the run was started with */
            userMessage: string;
            /** @description Null unless status is Completed. JSON text if the agent has an output schema */
            finalOutput: string | null;
            /** @description Null unless status is Failed */
            errorMessage: string | null;
            /** @description Number of finished steps */
            stepsExecuted: number;
            /** @description Input and output tokens of all model calls */
            tokensUsed: number;
            /** @description Functions and tools executed, retries not counted */
            actionsUsed: number;
            /** @description Credits consumed, with four decimal places */
            creditsUsed: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            createdAt: string;
            /** @description Null until the run is Running */
            startedAt: string | null;
            /** @description Null until the run has ended */
            finishedAt: string | null;
            steps: components["schemas"]["AgentRunStep"][];
        };
        AgentRunStep: {
            /** @description Counts from 1 */
            stepNumber: number;
            /** @description The model call that asked for this step */
            iterationNumber: number;
            /** @description Name of the function or tool called */
            toolName: string;
            /** @description A JSON document in a string */
            inputData: string;
            /** @description A JSON document in a string */
            outputData: string;
            /** @description The model's text beside the iteration's tool calls, or else its reasoning */
            reasoning: string;
            tokenUsage: components["schemas"]["TokenUsage"];
            /** @description Milliseconds */
            duration: number;
        };
        /** @description Tokens of the iteration; its steps carry the same figures */
        TokenUsage: {
            inputTokens: number;
            outputTokens: number;
        };
        AgentList: {
            data: components["schemas"]["AgentListItem"][];
            /** @description The cursor of the next page; null at the end */
            nextCursor: string | null;
            /** @description The filters and the limit of the page */
            applied: {
                status: ("active" | "inactive") | null;
                limit: number;
            };
        };
        AgentListItem: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            /** @description The current one */
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @enum {string} */
            status: "active" | "inactive";
        };
        Agent: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            /** @description The current one */
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @enum {string} */
            status: "active" | "inactive";
            definition: components["schemas"]["Definition"];
            /** @description Newest first, at most 100 */
            versions: components["schemas"]["Version"][];
        };
        RunList: {
            data: components["schemas"]["RunListItem"][];
            /** @description The cursor of the next page; null at the end */
            nextCursor: string | null;
            /** @description The filters and the limit of the page */
            applied: {
                kind: ("agent" | "tool") | null;
                status: ("Pending" | "Running" | "Completed" | "Failed" | "Cancelled")[] | null;
                target: string | null;
                trigger: string | null;
                schedule: string | null;
                key: string | null;
                source: ("api" | "webhook" | "dashboard" | "operator" | "run" | "draft" | "schedule") | null;
                from: string | null;
                to: string | null;
                text: string | null;
                metadata: {
                    [key: string]: unknown;
                } | null;
                children: boolean;
                limit: number;
            };
        };
        /** @description A run without input and output */
        RunListItem: {
            /** Format: uuid */
            id: string;
            /**
             * @description What was started
             * @enum {string}
             */
            kind: "agent" | "tool";
            /**
             * Format: uuid
             * @description The agent or tool
             */
            targetId: string;
            targetName: string;
            targetVersion: number;
            /** @description Null for a tool */
            model: string | null;
            /**
             * @description Of a cancelled tool run, too: Cancelled
             * @enum {string}
             */
            status: "Pending" | "Running" | "Completed" | "Failed" | "Cancelled";
            /** @description Why it failed; null otherwise */
            errorCode: string | null;
            /**
             * @description run: another run started it; schedule: a schedule; draft: a draft was tried in an editor
             * @enum {string}
             */
            source: "api" | "webhook" | "dashboard" | "operator" | "run" | "draft" | "schedule";
            triggerId: string | null;
            scheduleId: string | null;
            apiKeyId: string | null;
            /** @description The run that started it */
            parentRunId: string | null;
            /** @description The start's X-Metadata */
            metadata: {
                [key: string]: unknown;
            } | null;
            stepsExecuted: number;
            tokensUsed: number;
            actionsUsed: number;
            /** @description Credits: a decimal with four places, such as 0.0612 */
            creditsUsed: string;
            /** Format: date-time */
            createdAt: string;
            startedAt: string | null;
            finishedAt: string | null;
        };
        /** @description All facts of a run */
        RunRecord: {
            /** Format: uuid */
            id: string;
            /**
             * @description What was started
             * @enum {string}
             */
            kind: "agent" | "tool";
            /**
             * Format: uuid
             * @description The agent or tool
             */
            targetId: string;
            targetName: string;
            targetVersion: number;
            /** @description Null for a tool */
            model: string | null;
            /**
             * @description Of a cancelled tool run, too: Cancelled
             * @enum {string}
             */
            status: "Pending" | "Running" | "Completed" | "Failed" | "Cancelled";
            /** @description Why it failed; null otherwise */
            errorCode: string | null;
            /**
             * @description run: another run started it; schedule: a schedule; draft: a draft was tried in an editor
             * @enum {string}
             */
            source: "api" | "webhook" | "dashboard" | "operator" | "run" | "draft" | "schedule";
            triggerId: string | null;
            scheduleId: string | null;
            apiKeyId: string | null;
            /** @description The run that started it */
            parentRunId: string | null;
            /** @description The start's X-Metadata */
            metadata: {
                [key: string]: unknown;
            } | null;
            stepsExecuted: number;
            tokensUsed: number;
            actionsUsed: number;
            /** @description Credits: a decimal with four places, such as 0.0612 */
            creditsUsed: string;
            /** Format: date-time */
            createdAt: string;
            startedAt: string | null;
            finishedAt: string | null;
            /**
             * Format: uuid
             * @description The first run of the chain; itself without a parent
             */
            rootRunId: string;
            inputTokens: number;
            outputTokens: number;
            /** @description From its start */
            deadlineSeconds: number;
            /** @description The most it may spend; null: no cap */
            maxCredits: string | null;
            /** @description Null unless status is Failed */
            errorMessage: string | null;
            cancelledBy: string | null;
            /** @description Null unless the run is a fork */
            fork: {
                /**
                 * Format: uuid
                 * @description Its origin, which may be deleted by now
                 */
                runId: string;
                /** @description The first step that it did not take over */
                fromStep: number;
                /** @enum {string} */
                tools: "recorded" | "live";
            } | null;
            /** @description The message of an agent run, the JSON input of a tool run */
            input: string;
            /** @description Null unless status is Completed */
            output: string | null;
        };
        Receipt: {
            /** Format: uuid */
            runId: string;
            /** @enum {string} */
            status: "Pending" | "Running" | "Completed" | "Failed" | "Cancelled";
            priceList: {
                /** @description Equal price lists have equal ids */
                id: string;
                /** @description Credits of one action */
                action: string;
                /** @description The prices of the models in the lines */
                models: components["schemas"]["ModelPrice"][];
            };
            lines: components["schemas"]["ReceiptLine"][];
            /** @description The sum of the lines: what the run was charged */
            creditsUsed: string;
            /** @description What was given back later */
            creditsRefunded: string;
        };
        /** @description Credits per 1,000 tokens */
        ModelPrice: {
            model: string;
            input: string;
            cachedInput?: string;
            cacheWrite?: string;
            output: string;
        };
        ReceiptLine: {
            /**
             * @description waiver: takes back the other lines, because the service failed
             * @enum {string}
             */
            type: "model_call" | "action" | "waiver";
            /** @description The call's name in the run, or the function or tool */
            name: string;
            status: ("Running" | "Completed" | "Failed" | "Skipped") | null;
            /** @description Of a model call */
            provider?: string;
            /** @description Of a model call */
            model?: string;
            /** @description Of a model call */
            usage?: components["schemas"]["ReceiptUsage"];
            /** @description Of an action */
            stepNumber?: number;
            /** @description The run that the action started. Its usage is in its own receipt */
            childRunId?: string | null;
            /** @description Credits: a decimal with four places, such as 0.0612 */
            credits: string;
        };
        ReceiptUsage: {
            inputTokens: number;
            /** @description The part of the input that was read from the cache */
            cachedInputTokens: number;
            /** @description The part of the input that was written to the cache */
            cacheWriteTokens: number;
            outputTokens: number;
            /** @description The part of the output that was reasoning */
            reasoningTokens: number;
            /** @description True if the provider reported nothing */
            estimated: boolean;
            /** @description What the provider reported, one for each attempt */
            reported: unknown[];
        };
        ForkEstimate: {
            /** @description Where the fork begins: the first step of the iteration, group or forEach of fromStep */
            fromStep: number;
            /** @description Steps that are neither executed nor charged again */
            takenOver: number;
            /** @description The credits that the start would hold, such as 0.4210 */
            hold: string;
            /** @description The most that the fork can use: at most the balance */
            mostCredits: string;
            /** @description Cost of the origin's own usage from fromStep on, at the fork's prices and model */
            sameUsage: string;
            /** @description What the fork may execute that changes something outside. Empty under recorded */
            sideEffects: {
                /** @description The function or tool */
                name: string;
                /** @description The step of a tool; null for an agent */
                step: string | null;
            }[];
            /** @description What would reject the start; empty if nothing does */
            issues: {
                code: components["schemas"]["ApiErrorCode"];
                message: string;
                path?: string;
            }[];
        };
        RunMetrics: {
            total: components["schemas"]["RunFigures"];
            /** @description The same span of time before */
            before: components["schemas"]["RunFigures"];
            buckets: components["schemas"]["MetricsBucket"][];
            /** @description Empty if the metrics are those of one subject */
            agents: components["schemas"]["SubjectFigures"][];
            /** @description Empty if the metrics are those of one subject */
            tools: components["schemas"]["SubjectFigures"][];
            /** @description Empty if the metrics are those of one subject */
            triggers: components["schemas"]["SubjectFigures"][];
            /** @description Empty if the metrics are those of one subject */
            keys: components["schemas"]["SubjectFigures"][];
            /** @description Empty if the metrics are those of one subject */
            schedules: components["schemas"]["SubjectFigures"][];
            applied: {
                /**
                 * Format: date-time
                 * @description Runs created at this time or later
                 */
                from: string;
                /**
                 * Format: date-time
                 * @description Runs created before this time
                 */
                to: string;
                intervalMs: number;
                target: string | null;
                trigger: string | null;
                key: string | null;
                schedule: string | null;
            };
        };
        RunFigures: {
            runs: number;
            completed: number;
            failed: number;
            cancelled: number;
            /** @description Runs that have not ended */
            open: number;
            /** @description Among the runs: those that other runs started */
            children: number;
            /** @description Runs of drafts, which the other figures leave out */
            drafts: number;
            tokens: number;
            /** @description Credits: a decimal with four places, such as 0.0612 */
            credits: string;
            /** @description Also what the runs that they started used */
            creditsWithChildren: string;
            /** @description Credits: a decimal with four places, such as 0.0612 */
            draftCredits: string;
            /** @description Median duration in milliseconds, exact to 1 % */
            p50: number | null;
            /** @description 95 % of the runs were no longer, in milliseconds */
            p95: number | null;
        };
        MetricsBucket: {
            runs: number;
            completed: number;
            failed: number;
            cancelled: number;
            /** @description Runs that have not ended */
            open: number;
            /** @description Among the runs: those that other runs started */
            children: number;
            /** @description Runs of drafts, which the other figures leave out */
            drafts: number;
            tokens: number;
            /** @description Credits: a decimal with four places, such as 0.0612 */
            credits: string;
            /** @description Also what the runs that they started used */
            creditsWithChildren: string;
            /** @description Credits: a decimal with four places, such as 0.0612 */
            draftCredits: string;
            /** @description Median duration in milliseconds, exact to 1 % */
            p50: number | null;
            /** @description 95 % of the runs were no longer, in milliseconds */
            p95: number | null;
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
        };
        SubjectFigures: {
            runs: number;
            completed: number;
            failed: number;
            cancelled: number;
            /** @description Runs that have not ended */
            open: number;
            /** @description Among the runs: those that other runs started */
            children: number;
            /** @description Runs of drafts, which the other figures leave out */
            drafts: number;
            tokens: number;
            /** @description Credits: a decimal with four places, such as 0.0612 */
            credits: string;
            /** @description Also what the runs that they started used */
            creditsWithChildren: string;
            /** @description Credits: a decimal with four places, such as 0.0612 */
            draftCredits: string;
            /** @description Median duration in milliseconds, exact to 1 % */
            p50: number | null;
            /** @description 95 % of the runs were no longer, in milliseconds */
            p95: number | null;
            /** Format: uuid */
            id: string;
            name: string;
        };
        TriggerList: {
            data: components["schemas"]["TriggerListItem"][];
            /** @description The cursor of the next page; null at the end */
            nextCursor: string | null;
            /** @description The filters and the limit of the page */
            applied: {
                target: string | null;
                limit: number;
            };
        };
        TriggerListItem: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            /** @enum {string} */
            status: "active" | "inactive";
            /**
             * @description What it starts
             * @enum {string}
             */
            kind: "agent" | "tool";
            /**
             * Format: uuid
             * @description The agent or tool
             */
            targetId: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        CreatedTrigger: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            /** @enum {string} */
            status: "active" | "inactive";
            /**
             * @description What it starts
             * @enum {string}
             */
            kind: "agent" | "tool";
            /**
             * Format: uuid
             * @description The agent or tool
             */
            targetId: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            definition: components["schemas"]["Definition"];
            /** @description The address that senders call. It is a secret; no read has it. */
            url: string;
            /** @description The secret that was generated, this once */
            secret: string | null;
        };
        Trigger: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            /** @enum {string} */
            status: "active" | "inactive";
            /**
             * @description What it starts
             * @enum {string}
             */
            kind: "agent" | "tool";
            /**
             * Format: uuid
             * @description The agent or tool
             */
            targetId: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            definition: components["schemas"]["Definition"];
        };
        DeliveryList: {
            data: components["schemas"]["Delivery"][];
            /** @description The cursor of the next page; null at the end */
            nextCursor: string | null;
            /** @description The filters and the limit of the page */
            applied: {
                trigger: string | null;
                outcome: ("accepted" | "repeated" | "rejected" | "filtered") | null;
                limit: number;
            };
        };
        /** @description A call that a trigger received */
        Delivery: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            triggerId: string;
            /** Format: date-time */
            receivedAt: string;
            /**
             * @description accepted started a run; repeated named an earlier one
             * @enum {string}
             */
            outcome: "accepted" | "repeated" | "rejected" | "filtered";
            /** @description The HTTP status of the answer */
            status: number;
            /** @description The error code of a rejected call */
            code: string | null;
            reason: string | null;
            bodyBytes: number;
            /** @description The sender's id of the event */
            senderId: string | null;
            /** @description The delivery that it repeats */
            redeliveryOf: string | null;
            runId: string | null;
        };
        ScheduleList: {
            data: components["schemas"]["ScheduleListItem"][];
            /** @description The cursor of the next page; null at the end */
            nextCursor: string | null;
            /** @description The filters and the limit of the page */
            applied: {
                target: string | null;
                limit: number;
            };
        };
        ScheduleListItem: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            /**
             * @description What it starts
             * @enum {string}
             */
            kind: "agent" | "tool";
            /**
             * Format: uuid
             * @description The agent or tool
             */
            targetId: string;
            cron: string;
            timeZone: string;
            paused: boolean;
            /** @description The next time; null: it is paused, or there is none */
            nextAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        Schedule: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            /**
             * @description What it starts
             * @enum {string}
             */
            kind: "agent" | "tool";
            /**
             * Format: uuid
             * @description The agent or tool
             */
            targetId: string;
            cron: string;
            timeZone: string;
            paused: boolean;
            /** @description The next time; null: it is paused, or there is none */
            nextAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            definition: components["schemas"]["Definition"];
        };
        CallbackList: {
            data: components["schemas"]["CallbackListItem"][];
            /** @description The cursor of the next page; null at the end */
            nextCursor: string | null;
            /** @description The filters and the limit of the page */
            applied: {
                limit: number;
            };
        };
        CallbackListItem: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            url: string;
            events: string[];
            /** @enum {string} */
            status: "active" | "inactive";
            /** @description The first failed attempt since the last one that succeeded */
            failingSince: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        CreatedCallback: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            url: string;
            events: string[];
            /** @enum {string} */
            status: "active" | "inactive";
            /** @description The first failed attempt since the last one that succeeded */
            failingSince: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            definition: components["schemas"]["Definition"];
            /** @description It signs what is sent; shown this once */
            secret: string;
        };
        Callback: {
            /** Format: uuid */
            id: string;
            slug: string;
            name: string;
            url: string;
            events: string[];
            /** @enum {string} */
            status: "active" | "inactive";
            /** @description The first failed attempt since the last one that succeeded */
            failingSince: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            definition: components["schemas"]["Definition"];
        };
        AppliedDefinitionFile: {
            dryRun: boolean;
            definitions: components["schemas"]["AppliedDefinition"][];
        };
        AppliedDefinition: {
            /** @enum {string} */
            kind: "tool" | "agent" | "trigger" | "schedule" | "callback";
            slug: string;
            /** @description Null: a dry run would create it */
            id: string | null;
            /** @enum {string} */
            saved: "created" | "updated" | "restored" | "unchanged";
            /** @description Of an agent or tool */
            version: number | null;
            /** @description The changed fields, each with from and to, as in the audit log; long values are cut */
            changes: {
                [key: string]: unknown;
            };
            /** @description The address of a new trigger, this once */
            url: string | null;
            /** @description The secret of a new callback, this once */
            secret: string | null;
        };
        DefinitionFile: {
            /** @description One: the key's, with tools, agents, triggers, callbacks and schedules */
            organizations: {
                [key: string]: unknown;
            }[];
        };
        CreditBalance: {
            /** @description What new runs can hold */
            available: string;
            /** @description Held for open runs */
            held: string;
            /** @description Runs that are pending or running */
            openRuns: number;
            /** @description Granted each month by the plan */
            monthly: string;
        };
        CreditEntryList: {
            data: components["schemas"]["CreditEntry"][];
            /** @description The cursor of the next page; null at the end */
            nextCursor: string | null;
            /** @description The filters and the limit of the page */
            applied: {
                kind: ("grant" | "hold" | "charge" | "release" | "refund" | "adjustment") | null;
                holds: boolean;
                limit: number;
            };
        };
        CreditEntry: {
            /** @description Counts the organization's entries from 1, without gaps */
            sequence: number;
            /** @enum {string} */
            kind: "grant" | "hold" | "charge" | "release" | "refund" | "adjustment";
            /** @description The change of the balance: negative for holds and charges */
            amount: string;
            /** @description The balance before */
            before: string;
            /** @description The balance after */
            after: string;
            runId: string | null;
            note: string;
            /** Format: date-time */
            createdAt: string;
        };
        WebhookAccepted: {
            success: boolean;
            /**
             * Format: uuid
             * @description The run that was started
             */
            runId: string;
            type: components["schemas"]["RunKind"];
        };
        /**
         * @description What the trigger starts
         * @enum {string}
         */
        RunKind: "agent" | "tool";
        WebhookFiltered: {
            success: boolean;
            /**
             * Format: uuid
             * @description null: no run was started
             */
            runId: string | null;
            type: components["schemas"]["RunKind"];
        };
        ApiError: {
            success: boolean;
            code: components["schemas"]["ApiErrorCode"];
            /** @description For people; may change */
            message: string;
            /** @description The request's id in the service's log */
            requestId: string;
            /** @description The invalid parts of the input, if known; of insufficient_credits, the hold and the balance */
            issues?: components["schemas"]["ApiIssue"][];
        };
        ApiProblem: {
            success: boolean;
            code: components["schemas"]["ApiErrorCode"];
            /** @description For people; may change */
            message: string;
            /** @description The request's id in the service's log */
            requestId: string;
            /** @description The invalid parts of the input, if known; of insufficient_credits, the hold and the balance */
            issues?: components["schemas"]["ApiIssue"][];
            /** @constant */
            type: "about:blank";
            /** @description The phrase of the status, such as Bad Request */
            title: string;
            status: number;
            /** @description The message */
            detail: string;
        };
    };
    responses: {
        /** @description Malformed id, header or body, or an input that does not match the tool's parameters */
        InvalidRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description Malformed id, header or body, or an input that does not match the tool's parameters; Insufficient credits */
        ToolStartRejected: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description Malformed id, header or body, or an input that does not match the tool's parameters; Agent inactive; Insufficient credits; Trigger misconfigured: disabled, or its target is inactive or gone */
        RepeatRejected: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description Malformed id, header or body, or an input that does not match the tool's parameters; Agent inactive; Insufficient credits */
        AgentStartRejected: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description Malformed id, header or body, or an input that does not match the tool's parameters; Insufficient credits; Trigger misconfigured: disabled, or its target is inactive or gone; Organization suspended */
        WebhookRejected: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description Invalid or missing API key */
        Unauthenticated: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description Invalid or missing signature */
        InvalidSignature: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description API access not enabled on the plan; The key lacks the scope, or is limited to other agents and tools; Organization suspended */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description Not found, or of another organization or kind */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description The path takes another method */
        MethodNotAllowed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description The run's status does not allow it; The Idempotency-Key was used with another request */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description The Idempotency-Key was used with another request */
        IdempotencyConflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description The definition has changed since the ETag in If-Match */
        PreconditionFailed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description The body or userMessage is too large */
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description Rate limit exceeded */
        RateLimited: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description An error of the service; its cause is in the log under the request id */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
        /** @description The body has a Content-Encoding */
        CompressedBody: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "Accept-Encoding": components["headers"]["Accept-Encoding"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
                "application/problem+json": components["schemas"]["ApiProblem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The request's id; search the service's log for it. */
        "X-Request-Id": string;
        /** @description The state of the answer. Of a run it is strong once the run has ended, weak before. */
        ETag: string;
        /** @description The limit that the call counts against: q calls in any w seconds. */
        "RateLimit-Policy": string;
        /** @description r calls are left; the oldest counted call leaves the window in t seconds. */
        RateLimit: string;
        /** @description Seconds until a call is allowed again. */
        "Retry-After": number;
        /** @description Present when this is the answer to an earlier call with the same id. Nothing was started. */
        "Idempotent-Replayed": "true";
        /** @description The methods that the path takes. */
        Allow: string;
        /** @description The encoding that bodies may have: none. */
        "Accept-Encoding": "identity";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    runTool: {
        parameters: {
            query?: never;
            header?: {
                /** @description Within 24 hours the same key and request return the first answer and start nothing. The same key with another path, body or option is 409. */
                "Idempotency-Key"?: string;
                /** @description A flat JSON object of texts, numbers and booleans in ASCII, at most 2 KiB. It is shown with the run and filters lists. */
                "X-Metadata"?: string;
                /** @description The run's cap of credits, below maxCredits of agent, tool and key. A provider that ignores its output limit may exceed it. */
                "X-Max-Credits"?: string;
                /** @description The run fails after this many seconds, or at the deadline of agent or tool if that is earlier. */
                "X-Deadline-Seconds"?: string;
                /** @description An https address that gets an event when the run ends. The key needs the scope runs:read. */
                "X-Callback-Url"?: string;
            };
            path: {
                /** @description The tool's id */
                toolId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ToolInput"];
            };
        };
        responses: {
            /** @description The run is stored and will execute */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunStarted"];
                };
            };
            400: components["responses"]["ToolStartRejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["IdempotencyConflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    estimateToolRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The tool's id */
                toolId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ToolInput"];
            };
        };
        responses: {
            /** @description The hold, the most that the run can cost, and what would reject the start */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartEstimate"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getToolRunStatus: {
        parameters: {
            query?: {
                /** @description Answer when the run has ended, or after this many seconds with its state. It counts as one read. */
                wait?: number;
            };
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The tool run's id */
                toolRunId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run's current state */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolRun"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getToolRunResult: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The tool run's id */
                toolRunId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run's current state */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolRunResult"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    followToolRun: {
        parameters: {
            query?: {
                /** @description Send the events after this number, without a snapshot. 0: all events. */
                since?: number;
                /** @description true: also the events of the runs that the run calls, with their path. Their ids are for Last-Event-ID only. */
                children?: boolean;
            };
            header?: {
                /** @description As since: the id of the last event that the reader has. It takes precedence. */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The tool run's id */
                toolRunId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run's events until it has ended */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The run has ended, and the reader has its last event */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    cancelToolRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The tool run's id */
                toolRunId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run after the cancel, as far as the key may read it */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolRun"] | components["schemas"]["RunCancelled"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    listTools: {
        parameters: {
            query?: {
                /** @description The most items of the page; 50 by default */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolList"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    createTool: {
        parameters: {
            query?: {
                /** @description Why the version is saved */
                note?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Definition"];
            };
        };
        responses: {
            /** @description The stored definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tool"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getTool: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The tool's id */
                toolId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tool"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    archiveTool: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer. If the definition has changed since, the answer is 412 and nothing changes. */
                "If-Match"?: string;
            };
            path: {
                /** @description The tool's id */
                toolId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is archived */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Archived"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    updateTool: {
        parameters: {
            query?: {
                /** @description Why the version is saved */
                note?: string;
            };
            header?: {
                /** @description The ETag of an earlier answer. If the definition has changed since, the answer is 412 and nothing changes. */
                "If-Match"?: string;
            };
            path: {
                /** @description The tool's id */
                toolId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Definition"];
            };
        };
        responses: {
            /** @description The changed definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tool"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    runAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Within 24 hours the same key and request return the first answer and start nothing. The same key with another path, body or option is 409. */
                "Idempotency-Key"?: string;
                /** @description A flat JSON object of texts, numbers and booleans in ASCII, at most 2 KiB. It is shown with the run and filters lists. */
                "X-Metadata"?: string;
                /** @description The run's cap of credits, below maxCredits of agent, tool and key. A provider that ignores its output limit may exceed it. */
                "X-Max-Credits"?: string;
                /** @description The run fails after this many seconds, or at the deadline of agent or tool if that is earlier. */
                "X-Deadline-Seconds"?: string;
                /** @description An https address that gets an event when the run ends. The key needs the scope runs:read. */
                "X-Callback-Url"?: string;
            };
            path: {
                /** @description The agent's id */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartAgentRun"];
            };
        };
        responses: {
            /** @description The run is stored and will execute */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunStarted"];
                };
            };
            400: components["responses"]["AgentStartRejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["IdempotencyConflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    estimateAgentRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartAgentRun"];
            };
        };
        responses: {
            /** @description The hold, the most that the run can cost, and what would reject the start */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartEstimate"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getAgentRunStatus: {
        parameters: {
            query?: {
                /** @description Answer when the run has ended, or after this many seconds with its state. It counts as one read. */
                wait?: number;
            };
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The agent run's id */
                agentRunId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run's current state */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentRun"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getAgentRunDetails: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The agent run's id */
                agentRunId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run's current state */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentRunDetails"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    followAgentRun: {
        parameters: {
            query?: {
                /** @description Send the events after this number, without a snapshot. 0: all events. */
                since?: number;
                /** @description true: also the events of the runs that the run calls, with their path. Their ids are for Last-Event-ID only. */
                children?: boolean;
            };
            header?: {
                /** @description As since: the id of the last event that the reader has. It takes precedence. */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The agent run's id */
                agentRunId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run's events until it has ended */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The run has ended, and the reader has its last event */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    cancelAgentRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent run's id */
                agentRunId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run after the cancel, as far as the key may read it */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentRun"] | components["schemas"]["RunCancelled"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    listAgents: {
        parameters: {
            query?: {
                /** @description Only agents with it */
                status?: "active" | "inactive";
                /** @description The most items of the page; 50 by default */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentList"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    createAgent: {
        parameters: {
            query?: {
                /** @description Why the version is saved */
                note?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Definition"];
            };
        };
        responses: {
            /** @description The stored definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The agent's id */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    archiveAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer. If the definition has changed since, the answer is 412 and nothing changes. */
                "If-Match"?: string;
            };
            path: {
                /** @description The agent's id */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is archived */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Archived"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    updateAgent: {
        parameters: {
            query?: {
                /** @description Why the version is saved */
                note?: string;
            };
            header?: {
                /** @description The ETag of an earlier answer. If the definition has changed since, the answer is 412 and nothing changes. */
                "If-Match"?: string;
            };
            path: {
                /** @description The agent's id */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Definition"];
            };
        };
        responses: {
            /** @description The changed definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description Only runs of agents, or of tools */
                kind?: "agent" | "tool";
                /** @description Only runs with these statuses: Pending, Running, Completed, Failed, Cancelled, with commas between them */
                status?: string;
                /** @description Only runs of this agent or tool */
                target?: string;
                /** @description Only runs that this trigger started */
                trigger?: string;
                /** @description Only runs that this schedule started */
                schedule?: string;
                /** @description Only runs that this API key started */
                key?: string;
                /** @description Only runs with this source; run needs children=true */
                source?: "api" | "webhook" | "dashboard" | "operator" | "run" | "draft" | "schedule";
                /** @description Only runs created at this time or later */
                from?: string;
                /** @description Only runs created before this time */
                to?: string;
                /** @description Only runs whose input, output or error has these words, or whose id starts with this text */
                text?: string;
                /** @description Only runs whose start gave this text, number or boolean as KEY of its metadata */
                "metadata.KEY"?: string;
                /** @description true: also the runs that other runs started */
                children?: boolean;
                /** @description The most items of the page; 50 by default */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunList"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The run's id */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run's current state */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunRecord"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    cancelRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The run's id */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run after the cancel, as far as the key may read it */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunRecord"] | components["schemas"]["RunCancelled"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    rerunRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Within 24 hours the same key and request return the first answer and start nothing. The same key with another path, body or option is 409. */
                "Idempotency-Key"?: string;
                /** @description A flat JSON object of texts, numbers and booleans in ASCII, at most 2 KiB. It is shown with the run and filters lists. */
                "X-Metadata"?: string;
                /** @description The run's cap of credits, below maxCredits of agent, tool and key. A provider that ignores its output limit may exceed it. */
                "X-Max-Credits"?: string;
                /** @description The run fails after this many seconds, or at the deadline of agent or tool if that is earlier. */
                "X-Deadline-Seconds"?: string;
                /** @description An https address that gets an event when the run ends. The key needs the scope runs:read. */
                "X-Callback-Url"?: string;
            };
            path: {
                /** @description The run's id */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new run is stored and will execute */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunStarted"];
                };
            };
            400: components["responses"]["RepeatRejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["IdempotencyConflict"];
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getRunReceipt: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The run's id */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receipt */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    forkRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Within 24 hours the same key and request return the first answer and start nothing. The same key with another path, body or option is 409. */
                "Idempotency-Key"?: string;
                /** @description A flat JSON object of texts, numbers and booleans in ASCII, at most 2 KiB. It is shown with the run and filters lists. */
                "X-Metadata"?: string;
                /** @description The run's cap of credits, below maxCredits of agent, tool and key. A provider that ignores its output limit may exceed it. */
                "X-Max-Credits"?: string;
                /** @description The run fails after this many seconds, or at the deadline of agent or tool if that is earlier. */
                "X-Deadline-Seconds"?: string;
                /** @description An https address that gets an event when the run ends. The key needs the scope runs:read. */
                "X-Callback-Url"?: string;
            };
            path: {
                /** @description The run's id */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The stepNumber of the first step that is not taken over; one more than the last step: everything but the answer */
                    fromStep: number;
                    changes?: components["schemas"]["ForkChanges"];
                    /**
                     * @description recorded: the run's steps answer calls with the same name and arguments, other calls fail. live: functions and tools are executed, with their side effects
                     * @enum {string}
                     */
                    tools: "recorded" | "live";
                    /**
                     * @description true: check everything and start nothing. It counts as a read
                     * @default false
                     */
                    dryRun?: boolean;
                };
            };
        };
        responses: {
            /** @description The new run is stored and will execute; with dryRun, what it would cost and do */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunStarted"] | components["schemas"]["ForkEstimate"];
                };
            };
            400: components["responses"]["RepeatRejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getMetrics: {
        parameters: {
            query?: {
                /** @description The time up to now; 24h if neither period nor days are given */
                period?: "1h" | "24h" | "7d" | "30d" | "90d";
                /** @description The length of a bucket; which ones are possible depends on the period */
                interval?: "2m" | "1m" | "5m" | "1h" | "15m" | "3h" | "6h" | "1d" | "12h" | "3d" | "10d";
                /** @description The first day, in UTC */
                first?: string;
                /** @description The last day, in UTC */
                last?: string;
                /** @description Only runs of this agent or tool */
                target?: string;
                /** @description Only runs that this trigger started */
                trigger?: string;
                /** @description Only runs that this API key started */
                key?: string;
                /** @description Only runs that this schedule started */
                schedule?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunMetrics"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    listTriggers: {
        parameters: {
            query?: {
                /** @description Only triggers of this agent or tool */
                target?: string;
                /** @description The most items of the page; 50 by default */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerList"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    createTrigger: {
        parameters: {
            query?: {
                /** @description true: the service creates the secret that signs calls, in place of the body's */
                generateSecret?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Definition"];
            };
        };
        responses: {
            /** @description The stored definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedTrigger"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getTrigger: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The trigger's id */
                triggerId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trigger"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    archiveTrigger: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer. If the definition has changed since, the answer is 412 and nothing changes. */
                "If-Match"?: string;
            };
            path: {
                /** @description The trigger's id */
                triggerId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is archived */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Archived"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    updateTrigger: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer. If the definition has changed since, the answer is 412 and nothing changes. */
                "If-Match"?: string;
            };
            path: {
                /** @description The trigger's id */
                triggerId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Definition"];
            };
        };
        responses: {
            /** @description The changed definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trigger"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Only deliveries of this trigger */
                trigger?: string;
                /** @description Only deliveries with this outcome */
                outcome?: "accepted" | "repeated" | "rejected" | "filtered";
                /** @description The most items of the page; 50 by default */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryList"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    redeliver: {
        parameters: {
            query?: never;
            header?: {
                /** @description Within 24 hours the same key and request return the first answer and start nothing. The same key with another path, body or option is 409. */
                "Idempotency-Key"?: string;
                /** @description A flat JSON object of texts, numbers and booleans in ASCII, at most 2 KiB. It is shown with the run and filters lists. */
                "X-Metadata"?: string;
                /** @description The run's cap of credits, below maxCredits of agent, tool and key. A provider that ignores its output limit may exceed it. */
                "X-Max-Credits"?: string;
                /** @description The run fails after this many seconds, or at the deadline of agent or tool if that is earlier. */
                "X-Deadline-Seconds"?: string;
                /** @description An https address that gets an event when the run ends. The key needs the scope runs:read. */
                "X-Callback-Url"?: string;
            };
            path: {
                /** @description The delivery's id */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new run is stored and will execute */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunStarted"];
                };
            };
            400: components["responses"]["RepeatRejected"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["IdempotencyConflict"];
            413: components["responses"]["PayloadTooLarge"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                /** @description Only schedules of this agent or tool */
                target?: string;
                /** @description The most items of the page; 50 by default */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleList"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    createSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Definition"];
            };
        };
        responses: {
            /** @description The stored definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The schedule's id */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    archiveSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer. If the definition has changed since, the answer is 412 and nothing changes. */
                "If-Match"?: string;
            };
            path: {
                /** @description The schedule's id */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is archived */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Archived"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    updateSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer. If the definition has changed since, the answer is 412 and nothing changes. */
                "If-Match"?: string;
            };
            path: {
                /** @description The schedule's id */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Definition"];
            };
        };
        responses: {
            /** @description The changed definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    listCallbacks: {
        parameters: {
            query?: {
                /** @description The most items of the page; 50 by default */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackList"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    createCallback: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Definition"];
            };
        };
        responses: {
            /** @description The stored definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedCallback"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getCallback: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The callback's id */
                callbackId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Callback"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    archiveCallback: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer. If the definition has changed since, the answer is 412 and nothing changes. */
                "If-Match"?: string;
            };
            path: {
                /** @description The callback's id */
                callbackId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is archived */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Archived"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    updateCallback: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer. If the definition has changed since, the answer is 412 and nothing changes. */
                "If-Match"?: string;
            };
            path: {
                /** @description The callback's id */
                callbackId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Definition"];
            };
        };
        responses: {
            /** @description The changed definition */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Callback"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    applyDefinitionFile: {
        parameters: {
            query?: {
                /** @description true: changes nothing, and answers with the changes */
                dryRun?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DefinitionFile"];
                "application/yaml": string;
            };
        };
        responses: {
            /** @description What was applied, or would be */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppliedDefinitionFile"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    exportDefinitionFile: {
        parameters: {
            query?: {
                /** @description json by default */
                format?: "json" | "yaml";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The definition file */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DefinitionFile"];
                    "application/yaml": string;
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getCredits: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The balance */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditBalance"];
                };
            };
            /** @description Not modified since the ETag in If-None-Match */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    listCreditEntries: {
        parameters: {
            query?: {
                /** @description Only entries of this kind */
                kind?: "grant" | "hold" | "charge" | "release" | "refund" | "adjustment";
                /** @description true: also holds and releases, which cancel each other out */
                holds?: boolean;
                /** @description The most items of the page; 50 by default */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditEntryList"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    receiveWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description For triggers that expect hex signatures: the HMAC-SHA256 of the raw body in hexadecimal, with or without sha256= before it. */
                "X-Signature"?: string;
                /** @description The sender's id of the event. Within 24 hours the same id returns the first answer and starts nothing, whatever the body is. Ignored if the sender's own id is present, or signed in another header. */
                "Idempotency-Key"?: string;
                /** @description Like Idempotency-Key; part of a Standard Webhooks signature. */
                "webhook-id"?: string;
                /** @description For Standard Webhooks: the time of sending, in Unix seconds. */
                "webhook-timestamp"?: string;
                /** @description For Standard Webhooks: v1, and the base64 HMAC-SHA256 of id.timestamp.body. */
                "webhook-signature"?: string;
            };
            path: {
                /** @description The trigger's token, a secret */
                token: string;
            };
            cookie?: never;
        };
        /** @description Any JSON document in UTF-8. */
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The run is stored and will execute. If the trigger has a filter that rejects the body, success is false and no run starts */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookAccepted"] | components["schemas"]["WebhookFiltered"];
                };
            };
            400: components["responses"]["WebhookRejected"];
            401: components["responses"]["InvalidSignature"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["CompressedBody"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
}
