-- The tables of schema.prisma, followed by what Prisma cannot express: checks, triggers, partial indexes and functions.

CREATE TYPE "member_role" AS ENUM ('owner', 'admin', 'member', 'viewer');

CREATE TYPE "agent_status" AS ENUM ('active', 'inactive');

CREATE TYPE "run_kind" AS ENUM ('agent', 'tool');

CREATE TYPE "run_status" AS ENUM ('Pending', 'Running', 'Completed', 'Failed', 'Cancelled');

CREATE TYPE "run_source" AS ENUM ('api', 'webhook', 'dashboard', 'operator', 'run');

CREATE TYPE "step_status" AS ENUM ('Running', 'Completed', 'Failed');

CREATE TYPE "credit_entry_kind" AS ENUM ('grant', 'hold', 'charge', 'release', 'refund', 'adjustment');

CREATE TYPE "run_count_span" AS ENUM ('hour', 'day');

CREATE TYPE "run_count_dimension" AS ENUM ('all', 'agent', 'tool', 'trigger', 'key');

CREATE TYPE "delivery_outcome" AS ENUM ('accepted', 'repeated', 'rejected');

CREATE TYPE "signature_scheme" AS ENUM ('hex', 'standard_webhooks');

CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "image" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "sessions" (
    "id" UUID NOT NULL,
    "token" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "active_organization_id" UUID,
    "ip_address" TEXT,
    "user_agent" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "accounts" (
    "id" UUID NOT NULL,
    "account_id" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "access_token" TEXT,
    "refresh_token" TEXT,
    "id_token" TEXT,
    "access_token_expires_at" TIMESTAMPTZ(3),
    "refresh_token_expires_at" TIMESTAMPTZ(3),
    "scope" TEXT,
    "password" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "verifications" (
    "id" UUID NOT NULL,
    "identifier" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "verifications_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "organizations" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "suspended_at" TIMESTAMPTZ(3),
    "suspended_reason" TEXT,
    "model_providers" TEXT,
    "balance" DECIMAL(18,4) NOT NULL DEFAULT 0,
    "ledger_sequence" INTEGER NOT NULL DEFAULT 0,
    "in_flight" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "organizations_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "plans" (
    "organization_id" UUID NOT NULL,
    "api_access" BOOLEAN NOT NULL DEFAULT true,
    "monthly_credits" DECIMAL(18,4) NOT NULL DEFAULT 0,
    "starts_per_minute" INTEGER DEFAULT 100,
    "reads_per_minute" INTEGER DEFAULT 600,
    "concurrency" INTEGER NOT NULL DEFAULT 10,
    "retention_days" INTEGER NOT NULL DEFAULT 30,
    "granted_month" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "plans_pkey" PRIMARY KEY ("organization_id")
);

CREATE TABLE "members" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" "member_role" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "members_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "invitations" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "role" "member_role" NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "invited_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "scopes" TEXT[] DEFAULT ARRAY['runs:read', 'runs:start']::TEXT[],
    "target_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "starts_per_minute" INTEGER,
    "reads_per_minute" INTEGER,
    "max_credits" DECIMAL(18,4),
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "agents" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "status" "agent_status" NOT NULL DEFAULT 'active',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "agents_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "agent_versions" (
    "agent_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "model" TEXT NOT NULL,
    "system_prompt" TEXT NOT NULL,
    "max_steps" INTEGER NOT NULL DEFAULT 8,
    "functions" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "tool_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "settings" TEXT NOT NULL DEFAULT '{}',
    "max_credits" DECIMAL(18,4),
    "deadline_seconds" INTEGER NOT NULL DEFAULT 900,
    "note" TEXT NOT NULL DEFAULT '',
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "agent_versions_pkey" PRIMARY KEY ("agent_id","number")
);

CREATE TABLE "tools" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "tools_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "tool_versions" (
    "tool_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "definition" TEXT NOT NULL,
    "max_credits" DECIMAL(18,4),
    "deadline_seconds" INTEGER NOT NULL DEFAULT 900,
    "note" TEXT NOT NULL DEFAULT '',
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_versions_pkey" PRIMARY KEY ("tool_id","number")
);

CREATE TABLE "secrets" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "sealed" TEXT,
    "allowed_hosts" TEXT[],
    "expires_at" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "secrets_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "triggers" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "token_sealed" TEXT NOT NULL,
    "agent_id" UUID,
    "tool_id" UUID,
    "signature_scheme" "signature_scheme" NOT NULL DEFAULT 'hex',
    "rate_limit_requests" INTEGER NOT NULL DEFAULT 30,
    "rate_limit_seconds" INTEGER NOT NULL DEFAULT 60,
    "message_template" TEXT,
    "max_credits" DECIMAL(18,4),
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "triggers_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "trigger_secrets" (
    "id" UUID NOT NULL,
    "trigger_id" UUID NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "trigger_secrets_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "deliveries" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "trigger_id" UUID NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "outcome" "delivery_outcome" NOT NULL,
    "status" INTEGER NOT NULL,
    "code" TEXT,
    "reason" TEXT,
    "headers" TEXT NOT NULL,
    "body" BYTEA NOT NULL,
    "body_bytes" INTEGER NOT NULL,
    "body_note" TEXT,
    "sender_id" TEXT,
    "redelivery_of" UUID,
    "run_id" UUID,

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "configurations" (
    "organization_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "document" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "configurations_pkey" PRIMARY KEY ("organization_id","hash")
);

CREATE TABLE "runs" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "kind" "run_kind" NOT NULL,
    "agent_id" UUID,
    "tool_id" UUID,
    "target_name" TEXT NOT NULL,
    "target_version" INTEGER NOT NULL,
    "model" TEXT,
    "configuration_hash" BYTEA NOT NULL,
    "status" "run_status" NOT NULL DEFAULT 'Pending',
    "source" "run_source" NOT NULL,
    "trigger_id" UUID,
    "api_key_id" UUID,
    "user_id" UUID,
    "parent_run_id" UUID,
    "root_run_id" UUID NOT NULL,
    "input" TEXT NOT NULL,
    "output" TEXT,
    "error_code" TEXT,
    "error_message" TEXT,
    "steps_executed" INTEGER NOT NULL DEFAULT 0,
    "input_tokens" INTEGER NOT NULL DEFAULT 0,
    "output_tokens" INTEGER NOT NULL DEFAULT 0,
    "actions_used" INTEGER NOT NULL DEFAULT 0,
    "credits_used" DECIMAL(18,4) NOT NULL DEFAULT 0,
    "held" DECIMAL(18,4) NOT NULL DEFAULT 0,
    "max_credits" DECIMAL(18,4),
    "max_credits_of" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "admitted_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "yielded_at" TIMESTAMPTZ(3)[] DEFAULT ARRAY[]::TIMESTAMPTZ(3)[],
    "resumed_at" TIMESTAMPTZ(3)[] DEFAULT ARRAY[]::TIMESTAMPTZ(3)[],
    "wake_at" TIMESTAMPTZ(3),
    "deadline_seconds" INTEGER NOT NULL,
    "cancel_requested_at" TIMESTAMPTZ(3),
    "cancelled_by" TEXT,
    "claimed_by" TEXT,
    "epoch" INTEGER NOT NULL DEFAULT 0,
    "sequence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "run_index" (
    "run_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "kind" "run_kind" NOT NULL,
    "status" "run_status" NOT NULL,
    "source" "run_source" NOT NULL,
    "target_id" UUID NOT NULL,
    "trigger_id" UUID,
    "api_key_id" UUID,
    "user_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" BIGINT,
    "tokens" BIGINT NOT NULL,
    "credits" DECIMAL(18,4) NOT NULL,
    "words" TEXT NOT NULL,

    CONSTRAINT "run_index_pkey" PRIMARY KEY ("run_id")
);

CREATE TABLE "run_index_queue" (
    "run_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL
);

CREATE TABLE "steps" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "step_number" INTEGER NOT NULL,
    "iteration_number" INTEGER NOT NULL,
    "tool_name" TEXT NOT NULL,
    "status" "step_status" NOT NULL DEFAULT 'Running',
    "input" TEXT NOT NULL,
    "output" TEXT,
    "reasoning" TEXT NOT NULL DEFAULT '',
    "input_tokens" INTEGER NOT NULL DEFAULT 0,
    "output_tokens" INTEGER NOT NULL DEFAULT 0,
    "actions" INTEGER NOT NULL DEFAULT 0,
    "credits" DECIMAL(18,4) NOT NULL DEFAULT 0,
    "error_message" TEXT,
    "attempts" TEXT NOT NULL DEFAULT '[]',
    "child_run_id" UUID,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "duration_ms" INTEGER,
    "sequence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "steps_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "model_calls" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "iteration_number" INTEGER NOT NULL,
    "provider" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "status" "step_status" NOT NULL DEFAULT 'Running',
    "content" TEXT NOT NULL DEFAULT '',
    "tool_calls" TEXT NOT NULL DEFAULT '[]',
    "finish_reason" TEXT,
    "input_tokens" INTEGER NOT NULL DEFAULT 0,
    "output_tokens" INTEGER NOT NULL DEFAULT 0,
    "estimated" BOOLEAN NOT NULL DEFAULT false,
    "credits" DECIMAL(18,4) NOT NULL DEFAULT 0,
    "error_message" TEXT,
    "attempts" TEXT NOT NULL DEFAULT '[]',
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "duration_ms" INTEGER,
    "sequence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "model_calls_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "run_counts" (
    "organization_id" UUID NOT NULL,
    "span" "run_count_span" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "dimension" "run_count_dimension" NOT NULL,
    "subject_id" UUID NOT NULL,
    "runs" INTEGER NOT NULL,
    "completed" INTEGER NOT NULL,
    "failed" INTEGER NOT NULL,
    "cancelled" INTEGER NOT NULL,
    "tokens" BIGINT NOT NULL,
    "credits" DECIMAL(18,4) NOT NULL,
    "duration_classes" SMALLINT[],
    "duration_runs" INTEGER[],

    CONSTRAINT "run_counts_pkey" PRIMARY KEY ("organization_id","span","at","dimension","subject_id")
);

CREATE TABLE "run_counts_until" (
    "organization_id" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_counts_until_pkey" PRIMARY KEY ("organization_id")
);

CREATE TABLE "credit_entries" (
    "organization_id" UUID NOT NULL,
    "sequence" INTEGER NOT NULL,
    "kind" "credit_entry_kind" NOT NULL,
    "amount" DECIMAL(18,4) NOT NULL,
    "balance_before" DECIMAL(18,4) NOT NULL,
    "balance_after" DECIMAL(18,4) NOT NULL,
    "run_id" UUID,
    "note" TEXT NOT NULL DEFAULT '',
    "actor" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "credit_entries_pkey" PRIMARY KEY ("organization_id","sequence")
);

CREATE TABLE "idempotency_keys" (
    "organization_id" UUID NOT NULL,
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "run_id" UUID NOT NULL,
    "response" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("organization_id","scope","key")
);

CREATE TABLE "key_values" (
    "organization_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "key_values_pkey" PRIMARY KEY ("organization_id","key")
);

CREATE TABLE "key_value_writes" (
    "organization_id" UUID NOT NULL,
    "call" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "written_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "key_value_writes_pkey" PRIMARY KEY ("organization_id","call")
);

CREATE TABLE "rate_counters" (
    "key" TEXT NOT NULL,
    "taken" BIGINT NOT NULL,
    "seconds" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rate_counters_pkey" PRIMARY KEY ("key")
);

CREATE TABLE "rate_segments" (
    "key" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "upto" BIGINT NOT NULL,

    CONSTRAINT "rate_segments_pkey" PRIMARY KEY ("key","at","upto")
);

CREATE TABLE "workers" (
    "id" TEXT NOT NULL,
    "heartbeat_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "workers_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "worker_lanes" (
    "worker_id" TEXT NOT NULL,
    "lane" TEXT NOT NULL,
    "flush" BIGINT NOT NULL DEFAULT 0,
    "answer" TEXT,

    CONSTRAINT "worker_lanes_pkey" PRIMARY KEY ("worker_id","lane")
);

CREATE TABLE "audit_entries" (
    "id" UUID NOT NULL,
    "organization_id" UUID,
    "actor" TEXT NOT NULL,
    "actor_name" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject_kind" TEXT NOT NULL,
    "subject_id" UUID,
    "subject_name" TEXT NOT NULL,
    "changes" TEXT NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "settings" (
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "settings_pkey" PRIMARY KEY ("key")
);
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");
CREATE UNIQUE INDEX "sessions_token_key" ON "sessions"("token");
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");
CREATE INDEX "accounts_user_id_idx" ON "accounts"("user_id");
CREATE INDEX "verifications_identifier_idx" ON "verifications"("identifier");
CREATE UNIQUE INDEX "organizations_slug_key" ON "organizations"("slug");
CREATE INDEX "members_user_id_idx" ON "members"("user_id");
CREATE UNIQUE INDEX "members_organization_id_user_id_key" ON "members"("organization_id", "user_id");
CREATE UNIQUE INDEX "invitations_token_hash_key" ON "invitations"("token_hash");
CREATE UNIQUE INDEX "invitations_organization_id_email_key" ON "invitations"("organization_id", "email");
CREATE INDEX "invitations_invited_by_idx" ON "invitations"("invited_by");
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");
CREATE INDEX "api_keys_organization_id_name_idx" ON "api_keys"("organization_id", "name");
CREATE UNIQUE INDEX "api_keys_organization_id_id_key" ON "api_keys"("organization_id", "id");
CREATE UNIQUE INDEX "agents_organization_id_id_key" ON "agents"("organization_id", "id");
CREATE UNIQUE INDEX "agents_organization_id_slug_key" ON "agents"("organization_id", "slug");
CREATE UNIQUE INDEX "tools_organization_id_id_key" ON "tools"("organization_id", "id");
CREATE UNIQUE INDEX "tools_organization_id_slug_key" ON "tools"("organization_id", "slug");
CREATE UNIQUE INDEX "secrets_organization_id_name_key" ON "secrets"("organization_id", "name");
CREATE UNIQUE INDEX "triggers_token_hash_key" ON "triggers"("token_hash");
CREATE UNIQUE INDEX "triggers_organization_id_id_key" ON "triggers"("organization_id", "id");
CREATE UNIQUE INDEX "triggers_organization_id_slug_key" ON "triggers"("organization_id", "slug");
CREATE INDEX "trigger_secrets_trigger_id_idx" ON "trigger_secrets"("trigger_id");
CREATE INDEX "deliveries_organization_id_trigger_id_id_idx" ON "deliveries"("organization_id", "trigger_id", "id" DESC);
CREATE INDEX "deliveries_organization_id_received_at_idx" ON "deliveries"("organization_id", "received_at");
CREATE INDEX "deliveries_run_id_idx" ON "deliveries"("run_id");
CREATE INDEX "runs_organization_id_id_idx" ON "runs"("organization_id", "id" DESC);
CREATE INDEX "runs_organization_id_configuration_hash_idx" ON "runs"("organization_id", "configuration_hash");
CREATE INDEX "run_index_organization_id_status_run_id_idx" ON "run_index"("organization_id", "status", "run_id" DESC);
CREATE INDEX "run_index_organization_id_source_run_id_idx" ON "run_index"("organization_id", "source", "run_id" DESC);
CREATE INDEX "run_index_organization_id_target_id_run_id_idx" ON "run_index"("organization_id", "target_id", "run_id" DESC);
CREATE UNIQUE INDEX "steps_run_id_key_key" ON "steps"("run_id", "key");
CREATE UNIQUE INDEX "steps_run_id_step_number_key" ON "steps"("run_id", "step_number");
CREATE UNIQUE INDEX "model_calls_run_id_key_key" ON "model_calls"("run_id", "key");
CREATE INDEX "credit_entries_run_id_idx" ON "credit_entries"("run_id");
CREATE INDEX "key_values_expires_at_idx" ON "key_values"("expires_at");
CREATE INDEX "key_value_writes_written_at_idx" ON "key_value_writes"("written_at");
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");
CREATE INDEX "audit_entries_organization_id_id_idx" ON "audit_entries"("organization_id", "id" DESC);
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "plans" ADD CONSTRAINT "plans_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "members" ADD CONSTRAINT "members_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_invited_by_fkey" FOREIGN KEY ("invited_by") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agents" ADD CONSTRAINT "agents_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_versions" ADD CONSTRAINT "agent_versions_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "tools" ADD CONSTRAINT "tools_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "tool_versions" ADD CONSTRAINT "tool_versions_tool_id_fkey" FOREIGN KEY ("tool_id") REFERENCES "tools"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_organization_id_agent_id_fkey" FOREIGN KEY ("organization_id", "agent_id") REFERENCES "agents"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_organization_id_tool_id_fkey" FOREIGN KEY ("organization_id", "tool_id") REFERENCES "tools"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "trigger_secrets" ADD CONSTRAINT "trigger_secrets_trigger_id_fkey" FOREIGN KEY ("trigger_id") REFERENCES "triggers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_organization_id_trigger_id_fkey" FOREIGN KEY ("organization_id", "trigger_id") REFERENCES "triggers"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "configurations" ADD CONSTRAINT "configurations_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_configuration_hash_fkey" FOREIGN KEY ("organization_id", "configuration_hash") REFERENCES "configurations"("organization_id", "hash") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_agent_id_fkey" FOREIGN KEY ("organization_id", "agent_id") REFERENCES "agents"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_tool_id_fkey" FOREIGN KEY ("organization_id", "tool_id") REFERENCES "tools"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_trigger_id_fkey" FOREIGN KEY ("organization_id", "trigger_id") REFERENCES "triggers"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_api_key_id_fkey" FOREIGN KEY ("organization_id", "api_key_id") REFERENCES "api_keys"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "runs" ADD CONSTRAINT "runs_parent_run_id_fkey" FOREIGN KEY ("parent_run_id") REFERENCES "runs"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "run_index" ADD CONSTRAINT "run_index_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "steps" ADD CONSTRAINT "steps_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "model_calls" ADD CONSTRAINT "model_calls_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "run_counts" ADD CONSTRAINT "run_counts_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "run_counts_until" ADD CONSTRAINT "run_counts_until_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "credit_entries" ADD CONSTRAINT "credit_entries_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "key_values" ADD CONSTRAINT "key_values_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "key_value_writes" ADD CONSTRAINT "key_value_writes_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "worker_lanes" ADD CONSTRAINT "worker_lanes_worker_id_fkey" FOREIGN KEY ("worker_id") REFERENCES "workers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- ====================================================================================================================
-- Constraints
-- ====================================================================================================================

-- Money -------------------------------------------------------------------------------------------------
ALTER TABLE organizations
  ADD CONSTRAINT organizations_balance_not_negative CHECK (balance >= 0),
  ADD CONSTRAINT organizations_slug_shape CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$');

ALTER TABLE credit_entries
  ADD CONSTRAINT credit_entries_adds_up CHECK (balance_after = balance_before + amount),
  ADD CONSTRAINT credit_entries_not_negative CHECK (balance_before >= 0 AND balance_after >= 0),
  ADD CONSTRAINT credit_entries_sign CHECK (
    (kind IN ('grant', 'release', 'refund') AND amount >= 0)
    OR (kind IN ('hold', 'charge') AND amount <= 0)
    OR kind = 'adjustment'
  ),
  ADD CONSTRAINT credit_entries_run CHECK (kind NOT IN ('hold', 'charge', 'release') OR run_id IS NOT NULL);

CREATE FUNCTION credit_entries_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Deleting an organization deletes its ledger; nothing else deletes an entry.
  IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT 1 FROM organizations WHERE id = OLD.organization_id) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER credit_entries_append_only BEFORE UPDATE OR DELETE ON credit_entries
  FOR EACH ROW EXECUTE FUNCTION credit_entries_append_only();

-- Plans and limits; a rate of NULL is unlimited ----------------------------------------------------------------------------------------
ALTER TABLE plans
  ADD CONSTRAINT plans_ranges CHECK (
    monthly_credits >= 0 AND coalesce(starts_per_minute, 1) >= 1 AND coalesce(reads_per_minute, 1) >= 1
    AND concurrency BETWEEN 1 AND 10000 AND retention_days BETWEEN 1 AND 36500
  );

ALTER TABLE api_keys
  ADD CONSTRAINT api_keys_hash_length CHECK (octet_length(hash) = 32),
  ADD CONSTRAINT api_keys_limits CHECK (
    coalesce(starts_per_minute, 1) >= 1 AND coalesce(reads_per_minute, 1) >= 1 AND coalesce(max_credits, 1) > 0
  );

-- Definitions ---------------------------------------------------------------------------------------------
ALTER TABLE agents ADD CONSTRAINT agents_slug_shape CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$');
ALTER TABLE tools ADD CONSTRAINT tools_slug_shape CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$');

ALTER TABLE agent_versions
  ADD CONSTRAINT agent_versions_ranges CHECK (
    number >= 1 AND max_steps BETWEEN 1 AND 12 AND deadline_seconds BETWEEN 1 AND 86400
    AND coalesce(max_credits, 1) > 0
  );
ALTER TABLE tool_versions
  ADD CONSTRAINT tool_versions_ranges CHECK (
    number >= 1 AND deadline_seconds BETWEEN 1 AND 86400 AND coalesce(max_credits, 1) > 0
  );

-- Secrets -------------------------------------------------------------------------------------------------
ALTER TABLE secrets
  ADD CONSTRAINT secrets_name_shape CHECK (name ~ '^[A-Za-z_][A-Za-z0-9_]{0,63}$'),
  ADD CONSTRAINT secrets_have_hosts CHECK (cardinality(allowed_hosts) BETWEEN 1 AND 20),
  ADD CONSTRAINT secrets_expire_with_value CHECK (sealed IS NOT NULL OR expires_at IS NULL);

-- Webhooks ------------------------------------------------------------------------------------------------
ALTER TABLE triggers
  ADD CONSTRAINT triggers_one_target CHECK (num_nonnulls(agent_id, tool_id) = 1),
  ADD CONSTRAINT triggers_slug_shape CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'),
  ADD CONSTRAINT triggers_hash_length CHECK (octet_length(token_hash) = 32),
  ADD CONSTRAINT triggers_limits CHECK (
    rate_limit_requests BETWEEN 1 AND 100000 AND rate_limit_seconds BETWEEN 1 AND 86400 AND coalesce(max_credits, 1) > 0
  );

ALTER TABLE deliveries
  ADD CONSTRAINT deliveries_outcome CHECK (
    (outcome = 'rejected' AND code IS NOT NULL AND reason IS NOT NULL AND run_id IS NULL)
    OR (outcome <> 'rejected' AND code IS NULL AND run_id IS NOT NULL)
  );

-- Runs ----------------------------------------------------------------------------------------------------
ALTER TABLE runs
  ADD CONSTRAINT runs_one_target CHECK (
    (kind = 'agent' AND agent_id IS NOT NULL AND tool_id IS NULL AND model IS NOT NULL)
    OR (kind = 'tool' AND tool_id IS NOT NULL AND agent_id IS NULL)
  ),
  ADD CONSTRAINT runs_times CHECK (
    (status = 'Pending' AND started_at IS NULL AND finished_at IS NULL)
    OR (status = 'Running' AND started_at IS NOT NULL AND finished_at IS NULL)
    OR (status = 'Completed' AND started_at IS NOT NULL AND finished_at IS NOT NULL)
    OR (status IN ('Failed', 'Cancelled') AND finished_at IS NOT NULL)
  ),
  ADD CONSTRAINT runs_output CHECK (
    (status = 'Completed' AND output IS NOT NULL) OR (status <> 'Completed' AND output IS NULL)
  ),
  ADD CONSTRAINT runs_error CHECK ((status = 'Failed') = (error_message IS NOT NULL)),
  ADD CONSTRAINT runs_cancelled CHECK (status <> 'Cancelled' OR cancelled_by IS NOT NULL),
  ADD CONSTRAINT runs_figures CHECK (
    steps_executed >= 0 AND input_tokens >= 0 AND output_tokens >= 0 AND actions_used >= 0
    AND credits_used >= 0 AND held >= 0 AND coalesce(max_credits, 1) > 0
  ),
  -- A hold is released with the end of its run, in the same transaction; child runs use their root's.
  ADD CONSTRAINT runs_hold_ends CHECK (held = 0 OR (status IN ('Pending', 'Running') AND root_run_id = id)),
  ADD CONSTRAINT runs_root CHECK ((parent_run_id IS NULL) = (root_run_id = id)),
  ADD CONSTRAINT runs_source CHECK (
    (source <> 'webhook' OR trigger_id IS NOT NULL) AND (source <> 'api' OR api_key_id IS NOT NULL)
    AND (source <> 'dashboard' OR user_id IS NOT NULL) AND ((source = 'run') = (parent_run_id IS NOT NULL))
  );

ALTER TABLE steps
  ADD CONSTRAINT steps_numbers CHECK (step_number >= 1 AND iteration_number >= 1 AND actions >= 0 AND credits >= 0),
  ADD CONSTRAINT steps_finished CHECK (
    (status = 'Running' AND finished_at IS NULL AND output IS NULL)
    OR (status <> 'Running' AND finished_at IS NOT NULL AND output IS NOT NULL AND duration_ms IS NOT NULL)
  );
ALTER TABLE model_calls
  ADD CONSTRAINT model_calls_finished CHECK ((status = 'Running') = (finished_at IS NULL));

CREATE FUNCTION runs_keep_their_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status IN ('Completed', 'Failed', 'Cancelled') THEN
    IF ROW(NEW.*) IS DISTINCT FROM ROW(OLD.*) THEN
      RAISE EXCEPTION 'run % is % and frozen', OLD.id, OLD.status USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  ELSIF OLD.status = 'Running' AND NEW.status = 'Pending' THEN
    RAISE EXCEPTION 'run % cannot go back to Pending', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER runs_keep_their_state BEFORE UPDATE ON runs
  FOR EACH ROW WHEN (OLD.status <> 'Pending' AND (OLD.status <> 'Running' OR NEW.status = 'Pending')) EXECUTE FUNCTION runs_keep_their_state();

-- Open steps and model calls, to close when their run ends.
CREATE INDEX steps_running ON steps (run_id) WHERE status = 'Running';

-- A run is refunded at most once.
CREATE UNIQUE INDEX credit_entries_one_refund ON credit_entries (run_id) WHERE kind = 'refund' AND run_id IS NOT NULL;

-- Rare rows: ledger entries other than hold, release and charge, and deliveries that were not accepted. Starts write to
-- neither index.
CREATE INDEX credit_entries_rare ON credit_entries (organization_id, kind, sequence)
  WHERE kind IN ('grant', 'refund', 'adjustment');
CREATE INDEX deliveries_not_accepted ON deliveries (organization_id, trigger_id, outcome, id) WHERE outcome <> 'accepted';

-- For the hourly job: stored bodies of refused calls, newest first.
CREATE INDEX deliveries_refused_bodies ON deliveries (trigger_id, id DESC)
  INCLUDE (body_bytes) WHERE outcome = 'rejected' AND body_bytes > 4096 AND body_note IS NULL;

-- JIT compilation takes longer than any of our queries, and the high cost of run_words would trigger it. If the migrating
-- role does not own the database, its operator must set this (docs/operating.md).
DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;

-- ====================================================================================================================
-- The index of ended runs, and searching it
-- ====================================================================================================================

-- Starts and ends write to as few indexes of `runs` as possible. `run_index` has what lists, filters and searches need, one
-- row per ended run. The statement that ends a run adds a row to `run_index_queue`; a background job
-- (server/runs/read/run-index.ts) moves queued runs into `run_index` in batches. An ended run is always either in the queue
-- or in `run_index`, so a statement that reads both finds each run once.

ALTER TABLE run_index_queue SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Most runs have no parent.
CREATE INDEX runs_parent_run_id_idx ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;

-- The open runs of an organization, for lists, metrics and the balance.
CREATE INDEX runs_open ON runs (organization_id, id) WHERE status IN ('Pending', 'Running');

-- A size class on a logarithmic scale: 0 for nothing, 1 for the smallest, doubling every two classes. server/runs/read/filter.ts has the
-- same formula.
CREATE FUNCTION run_size_class(size float8) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN size <= 0 THEN 0 ELSE greatest(1, 1 + floor(2 * ln(size) / ln(2.0::float8)))::int END
$$;

CREATE FUNCTION quote_lexeme(word text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '''' || replace(replace(word, '\', '\\'), '''', '''''') || ''''
$$;

CREATE INDEX "run_index_trigger" ON "run_index"("organization_id", "trigger_id", "run_id" DESC) WHERE "trigger_id" IS NOT NULL;
CREATE INDEX "run_index_api_key" ON "run_index"("organization_id", "api_key_id", "run_id" DESC) WHERE "api_key_id" IS NOT NULL;

-- An inverted index of terms answers words and combinations of conditions. Each term begins with a scope: the end of the
-- organization's id and the first 21 bits of the run's id, which is a UUID v7. A scope has the runs that one organization
-- started within a day and a half (2^27 ms). A search reads scope after scope, from the newest, until its page is full.
-- Words are `scope:word`; facets (status, kind, source, target, …) are `scope=facet`.
CREATE FUNCTION run_scope(organization_id uuid, id uuid) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT right(organization_id::text, 6) || left(id::text, 5) || CASE WHEN substr(id::text, 6, 1) < '8' THEN '0' ELSE '8' END
$$;

-- Whether a text has letters of a script without spaces (Chinese, Japanese, Thai, Khmer, …).
CREATE FUNCTION is_unspaced(content text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT octet_length(content) > length(content) AND content ~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]'
$$;

-- The distinct words of a text in lower case. Spaces, punctuation, symbols and control characters separate words. Letters of
-- scripts without spaces are separate words from letters of other scripts. All ranges are written out, because the meaning of
-- a class such as [[:alnum:]] depends on the database's locale.
CREATE FUNCTION run_text_words(content text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  plain text := regexp_replace(lower(content), '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7'
    '\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3030\u30fb\ufe10-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufeff\U0001f000-\U0001faff]+', ' ', 'g');
BEGIN
  IF is_unspaced(plain) THEN
    plain := regexp_replace(plain, '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+)', ' \1 ', 'g');
  END IF;
  RETURN ARRAY(SELECT DISTINCT word FROM unnest(string_to_array(plain, ' ')) AS word WHERE word <> '');
END $$;

-- The search keys of a text; some may occur twice:
-- - its words, cut to 200 letters, the longest search text;
-- - both halves of letters with a number (`v1`, `A1234`, `10kg`);
-- - for scripts without spaces, each two adjacent letters, and the last letter.
CREATE FUNCTION run_text_keys(content text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  words text[];
  spaced text[];
  keys text[];
BEGIN
  IF strpos(content, '\') > 0 THEN
    -- In JSON a line break is a backslash and a letter, which is no part of the next word. In `C:\new` it is.
    content := regexp_replace(content, '\\[nrtbf]', ' ', 'g') || ' ' || coalesce(
      (SELECT string_agg(behind[1], ' ') FROM regexp_matches(content, '\\([nrtbf][^\s\\"]+)', 'g') AS behind), '');
  END IF;
  words := run_text_words(content);
  IF is_unspaced(content) THEN
    spaced := ARRAY(SELECT word FROM unnest(words) AS word WHERE NOT is_unspaced(word));
    keys := ARRAY(
      SELECT substr(word, at, 2) FROM unnest(words) AS word, generate_series(1, length(word)) AS at WHERE is_unspaced(word)
    );
  ELSE
    spaced := words;
  END IF;
  RETURN keys || ARRAY(SELECT left(word, 200) FROM unnest(spaced) AS word) || ARRAY(
    SELECT half FROM unnest(spaced) AS word,
      unnest(regexp_match(word, '^([^0-9]+)([0-9]+)$|^([0-9]+)([^0-9]+)$')) AS half
    -- The costly match runs only for words with a digit at one end.
    WHERE (ascii(word) BETWEEN 48 AND 57) <> (ascii(right(word, 1)) BETWEEN 48 AND 57) AND length(word) <= 200 AND half IS NOT NULL
  );
END $$;

-- The index query for one scope: each word of the text, and one facet of each of the space-separated alternatives. A word of
-- three letters or more matches as a prefix; in scripts without spaces, each two adjacent letters match. Null for an empty
-- query, or if the text has no word.
CREATE FUNCTION run_words_query(scope text, sought text, facets text[]) RETURNS tsquery
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN sought IS NOT NULL AND bool_and(NOT is_word) THEN NULL ELSE string_agg(part, ' & ') END::tsquery FROM (
    SELECT true AS is_word, quote_lexeme(scope || ':' || key) || CASE WHEN is_beginning THEN ':*' ELSE '' END AS part
    FROM unnest(run_text_words(coalesce(sought, ''))) AS word CROSS JOIN LATERAL (
      SELECT left(word, 200) AS key, length(word) > 2 AS is_beginning WHERE NOT is_unspaced(word)
      UNION ALL
      SELECT substr(word, at, 2), length(word) = 1 FROM generate_series(1, greatest(1, length(word) - 1)) AS at WHERE is_unspaced(word)
    ) keys
    UNION ALL
    SELECT false, '(' || (SELECT string_agg(quote_lexeme(scope || '=' || facet), ' | ')
                          FROM unnest(string_to_array(alternatives, ' ')) AS facet) || ')'
    FROM unnest(facets) AS alternatives
  ) parts
$$;

-- The searchable start of a run's texts, and its keys in the format of `run_index.words`.
CREATE FUNCTION run_text(input text, output text, error_message text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT left(input, 8192) || ' ' || left(coalesce(output, ''), 8192) || ' ' || left(coalesce(error_message, ''), 2048)
$$;
CREATE FUNCTION run_keys(input text, output text, error_message text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
  SELECT array_to_string(run_text_keys(run_text(input, output, error_message)), ' ')
$$;

-- Adds a prefix to each of the space-separated words.
CREATE FUNCTION prefix_words(prefix text, words text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN words = '' THEN '{}' ELSE string_to_array(prefix || replace(words, ' ', ' ' || prefix), ' ') END
$$;

-- The terms of an entry of `run_index`. Durations, tokens and credits are facets of classes: `d14`, `t9`, `c22` (milliseconds,
-- tokens, ten-thousandths of a credit). plpgsql and a high cost: the planner must neither inline this function nor call it
-- for every row. It sets its search path because PostgreSQL builds an index without this schema.
CREATE FUNCTION run_terms(
  organization_id uuid, run_id uuid, kind run_kind, status run_status, source run_source, target_id uuid, trigger_id uuid,
  api_key_id uuid, user_id uuid, duration_ms bigint, tokens bigint, credits numeric, words text
) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 SET search_path FROM CURRENT AS $$
DECLARE
  scope text := run_scope(organization_id, run_id);
  facets text := concat_ws(
    ' ', kind, status, source, target_id, trigger_id, api_key_id, user_id,
    'd' || run_size_class(coalesce(duration_ms, 0)::float8), 't' || run_size_class(tokens::float8),
    'c' || run_size_class((credits * 10000)::float8)
  );
BEGIN
  RETURN array_to_tsvector(prefix_words(scope || ':', words) || prefix_words(scope || '=', facets));
END $$;

-- Whether a run's words, in the format of `run_index.words`, match a run_words_query with an empty scope. For a few rows.
CREATE FUNCTION words_fit(words text, query tsquery) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
  SELECT array_to_tsvector(prefix_words(':', words)) @@ query
$$;

-- Every search reads the pending list of each scope; the background job empties it after each batch.
CREATE INDEX run_index_terms ON run_index USING gin (
  run_terms(organization_id, run_id, kind, status, source, target_id, trigger_id, api_key_id, user_id, duration_ms, tokens, credits, words)
);

-- ====================================================================================================================
-- Counting runs for metrics
-- ====================================================================================================================

-- The usage of an open run, summed from its journal; nulls for an ended run, whose own row has it.
CREATE FUNCTION open_run_figures(
  run uuid, is_open boolean, OUT steps int, OUT actions int, OUT input_tokens int, OUT output_tokens int, OUT credits numeric, OUT sequence int
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE c record;
BEGIN
  IF NOT is_open THEN RETURN; END IF;
  SELECT count(*) FILTER (WHERE s.status <> 'Running'), coalesce(sum(s.actions), 0), coalesce(sum(s.credits), 0), coalesce(max(s.sequence), 0)
  INTO steps, actions, credits, sequence FROM steps s WHERE s.run_id = run;
  SELECT coalesce(sum(m.input_tokens), 0) AS input_tokens, coalesce(sum(m.output_tokens), 0) AS output_tokens, coalesce(sum(m.credits), 0) AS credits,
    coalesce(max(m.sequence), 0) AS sequence
  INTO c FROM model_calls m WHERE m.run_id = run;
  input_tokens := c.input_tokens;
  output_tokens := c.output_tokens;
  credits := credits + c.credits;
  sequence := greatest(sequence, c.sequence);
END $$;

-- The smallest UUID v7 of a time.
CREATE FUNCTION run_id_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(greatest(0, floor(extract(epoch FROM at) * 1000))::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

-- A duration class on a logarithmic scale, 2 % per class; the middle of a class differs by at most 1 % from its durations.
CREATE FUNCTION run_duration_class(took interval) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (CASE WHEN took IS NULL THEN NULL ELSE ceil(ln(greatest(1, extract(epoch FROM took)::float8 * 1000)) / ln(1.02::float8)) END)::smallint
$$;

-- Counts an organization's runs of a period by interval: in total and by agent, tool, trigger and key. Computes all figures:
-- those stored in run_counts, and those of younger runs. Ids are generated within an hour of created_at.
CREATE FUNCTION count_runs(org uuid, since timestamptz, until timestamptz, step interval)
RETURNS TABLE (
  at timestamptz, dimension run_count_dimension, subject_id uuid, runs int, completed int, failed int, cancelled int,
  open int, tokens bigint, credits numeric, duration_classes smallint[], duration_runs int[]
) LANGUAGE sql STABLE ROWS 5000 AS $$
  WITH classed AS (
    SELECT date_bin(step, created_at, since) AS at, agent_id, tool_id, trigger_id, api_key_id,
      run_duration_class(finished_at - started_at) AS class, count(*) AS runs,
      count(*) FILTER (WHERE status = 'Completed') AS completed, count(*) FILTER (WHERE status = 'Failed') AS failed,
      count(*) FILTER (WHERE status = 'Cancelled') AS cancelled,
      sum(input_tokens::bigint + output_tokens) AS tokens, sum(credits_used) AS credits
    FROM runs
    WHERE organization_id = org AND created_at >= since AND created_at < until
      AND id >= run_id_floor(since - interval '1 hour') AND id < run_id_floor(until + interval '1 hour')
    GROUP BY 1, 2, 3, 4, 5, 6
    UNION ALL
    -- The usage of open runs is in their journals.
    SELECT date_bin(step, created_at, since), agent_id, tool_id, trigger_id, api_key_id, NULL, 0, 0, 0, 0,
      f.input_tokens::bigint + f.output_tokens, f.credits
    FROM runs r CROSS JOIN LATERAL open_run_figures(r.id, true) f
    WHERE organization_id = org AND created_at >= since AND created_at < until AND status IN ('Pending', 'Running')
  ), by_class AS (
    SELECT c.at, d.dimension::run_count_dimension, d.subject_id, c.class, sum(c.runs) AS runs, sum(c.completed) AS completed,
      sum(c.failed) AS failed, sum(c.cancelled) AS cancelled, sum(c.tokens) AS tokens, sum(c.credits) AS credits
    FROM classed c CROSS JOIN LATERAL (
      VALUES ('all', org), ('agent', agent_id), ('tool', tool_id), ('trigger', trigger_id), ('key', api_key_id)
    ) AS d (dimension, subject_id)
    WHERE d.subject_id IS NOT NULL
    GROUP BY 1, 2, 3, 4
  )
  SELECT b.at, b.dimension, b.subject_id, sum(b.runs)::int, sum(b.completed)::int, sum(b.failed)::int, sum(b.cancelled)::int,
    (sum(b.runs) - sum(b.completed) - sum(b.failed) - sum(b.cancelled))::int, sum(b.tokens)::bigint, sum(b.credits),
    array_agg(b.class) FILTER (WHERE b.class IS NOT NULL), array_agg(b.runs::int) FILTER (WHERE b.class IS NOT NULL)
  FROM by_class b GROUP BY 1, 2, 3
$$;

-- ====================================================================================================================
-- The engine
-- ====================================================================================================================

-- The engine: workers, the group-committed writer, rate counters, claims (docs/engine.md).

-- One row per process that executes runs. A worker whose heartbeat is too old is deleted and its runs are released.
ALTER TABLE workers SET (fillfactor = 50);

-- A lane is one connection of a worker's writer. Each flush stores its number and its response here in its own transaction:
-- the row fences flushes of a deleted worker, and after a lost connection it shows whether the flush was committed.
ALTER TABLE worker_lanes SET (fillfactor = 50);

-- An exact sliding window: `taken` counts all accepted calls of a key, a segment has that count at a time.
ALTER TABLE rate_counters SET (fillfactor = 50);

-- Runs: the row is written at the start and at the end; in between the journal (steps, model_calls) has the state.
ALTER TABLE organizations SET (fillfactor = 50);
ALTER TABLE organizations ADD CONSTRAINT organizations_in_flight CHECK (in_flight >= 0);
ALTER TABLE runs SET (fillfactor = 80);
CREATE INDEX runs_waiting ON runs (organization_id, id) WHERE status IN ('Pending', 'Running') AND admitted_at IS NULL AND parent_run_id IS NULL AND wake_at IS NULL;
CREATE INDEX runs_claimed ON runs (claimed_by) WHERE status IN ('Pending', 'Running') AND claimed_by IS NOT NULL;
-- Runs that wait until a time: they have no slot and do not wait for one until they are woken.
CREATE INDEX runs_asleep ON runs (wake_at) WHERE status IN ('Pending', 'Running') AND wake_at IS NOT NULL;
CREATE INDEX runs_handed_over ON runs (admitted_at) WHERE status IN ('Pending', 'Running') AND admitted_at IS NOT NULL AND claimed_by IS NULL AND parent_run_id IS NULL;
CREATE INDEX runs_cancelling ON runs (id) WHERE status IN ('Pending', 'Running') AND cancel_requested_at IS NOT NULL;

-- Takes up to `wanted` calls from the window of a key; returns how many were granted, how many remain, and in how many
-- seconds the oldest counted call leaves the window. Call number n is free again when call n - limit is older than the window.
-- `at`: the test clock's time; null in production. Times of a key never decrease: they are read under the counter's lock.
CREATE FUNCTION take_rate(k text, wanted int, lim int, secs int, at_ timestamptz, OUT granted int, OUT remaining int, OUT reset_seconds int)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE t bigint; now_ timestamptz(3); since timestamptz; gone bigint; oldest timestamptz;
BEGIN
  SELECT taken INTO t FROM rate_counters WHERE key = k FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO rate_counters (key, taken, seconds, updated_at) VALUES (k, 0, secs, coalesce(at_, clock_timestamp())) ON CONFLICT DO NOTHING;
    SELECT taken INTO t FROM rate_counters WHERE key = k FOR UPDATE;
  END IF;
  now_ := coalesce(at_, clock_timestamp());
  since := now_ - make_interval(secs => secs);
  SELECT (SELECT upto FROM rate_segments WHERE key = k AND at <= since ORDER BY at DESC, upto DESC LIMIT 1),
    (SELECT at FROM rate_segments WHERE key = k AND at > since ORDER BY at LIMIT 1) INTO gone, oldest;
  granted := greatest(0, least(wanted, lim - (t - coalesce(gone, 0))));
  IF granted > 0 THEN
    INSERT INTO rate_segments (key, at, upto) VALUES (k, now_, t + granted);
    UPDATE rate_counters SET taken = t + granted, seconds = secs, updated_at = now_ WHERE key = k;
  END IF;
  remaining := greatest(0, lim - (t + granted - coalesce(gone, 0)));
  reset_seconds := greatest(1, ceil(extract(epoch FROM coalesce(oldest, now_) - now_) + secs))::int;
END $$;

-- What flush_writes reads of a start, or of a call that is refused for another reason and still counts.
CREATE TYPE start_item AS (
  i int, refused boolean, id uuid, org uuid, rate_key text, rate_limit int, rate_seconds int, scope text, idem text, hash text, response text,
  replay_first boolean, kind run_kind, agent uuid, tool uuid, name text, version int, model text, configuration text, document text, source run_source,
  trigger uuid, api_key uuid, "user" uuid, input text, hold numeric, headroom numeric, cap numeric, cap_of text, deadline int, actor text, delivery json
);
-- What it reads of an end.
CREATE TYPE end_item AS (
  i int, run uuid, org uuid, epoch int, unclaimed boolean, status run_status, output text, code text, message text, cancelled_by text, input_tokens int,
  output_tokens int, actions int, steps int, credits numeric, note text, refund boolean, sequence int
);

-- One flush of a worker's lane: everything that was queued, in one transaction. Locks are taken in one order everywhere:
-- lane, rate counters, organizations, runs; each kind sorted. The answer is returned and kept in the lane's row.
CREATE FUNCTION flush_writes(
  p_worker text, p_lane text, p_flush bigint, p_at timestamptz, p_slots int,
  p_children json, p_calls json, p_steps json, p_ends json, p_holds json, p_starts json
) RETURNS text LANGUAGE plpgsql
  -- It reads tables by key only. Its plans are made once: look-ups in indexes, whatever the statistics say.
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  last_flush bigint;
  now_ timestamptz(3);
  r record;
  n int;
  used int;
  slots int := p_slots;
  org_balance numeric;
  starts start_item[];
  ends end_item[];
  verdicts text[] := '{}';
  holds text[];
  replays json;
  rates json;
  kept json[] := '{}';
  ended json;
  has_keys boolean;
  has_documents boolean;
  has_deliveries boolean;
  has_refunds boolean;
  has_children boolean;
  has_failed boolean;
  answer_ text;
BEGIN
  SELECT flush INTO last_flush FROM worker_lanes WHERE worker_id = p_worker AND lane = p_lane FOR NO KEY UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'worker % was replaced', p_worker USING ERRCODE = 'SW001'; END IF;
  IF last_flush <> p_flush - 1 THEN
    RAISE EXCEPTION 'flush % of lane % was written before', p_flush, p_lane USING ERRCODE = 'SW002';
  END IF;
  now_ := coalesce(p_at, clock_timestamp());

  -- Child runs and the journal. A finished row is never changed again.
  IF p_children IS NOT NULL THEN
    INSERT INTO configurations (organization_id, hash, document, created_at)
    SELECT DISTINCT ON (org, hash) org, decode(hash, 'hex'), document, now_
    FROM json_to_recordset(p_children) AS c (org uuid, hash text, document text)
    ON CONFLICT (organization_id, hash) DO NOTHING;
    INSERT INTO runs (id, organization_id, kind, agent_id, tool_id, target_name, target_version, model, configuration_hash, status, source,
      parent_run_id, root_run_id, input, max_credits, max_credits_of, created_at, admitted_at, started_at, deadline_seconds, claimed_by, epoch, sequence)
    SELECT id, org, kind, agent, tool, name, version, model, decode(hash, 'hex'), 'Running', 'run',
      parent, root, input, cap, cap_of, now_, now_, now_, deadline, p_worker, 1, 1
    FROM json_to_recordset(p_children) AS c (id uuid, org uuid, kind run_kind, agent uuid, tool uuid, name text, version int, model text, hash text,
      parent uuid, root uuid, input text, cap numeric, cap_of text, deadline int);
  END IF;
  IF p_calls IS NOT NULL THEN
    INSERT INTO model_calls (id, organization_id, run_id, key, iteration_number, provider, model, status, content, tool_calls, finish_reason,
      input_tokens, output_tokens, estimated, credits, error_message, attempts, started_at, finished_at, duration_ms, sequence)
    SELECT id, org, run, key, iteration, provider, model, status, content, tool_calls, finish_reason, input_tokens, output_tokens, estimated, credits,
      error, attempts, started_at, CASE WHEN status <> 'Running' THEN started_at + make_interval(secs => duration / 1000.0) END, duration, sequence
    FROM json_to_recordset(p_calls) AS c (id uuid, org uuid, run uuid, key text, iteration int, provider text, model text, status step_status, content text,
      tool_calls text, finish_reason text, input_tokens int, output_tokens int, estimated boolean, credits numeric, error text, attempts text,
      started_at timestamptz, duration int, sequence int)
    ON CONFLICT (run_id, key) DO UPDATE SET provider = EXCLUDED.provider, status = EXCLUDED.status, content = EXCLUDED.content, tool_calls = EXCLUDED.tool_calls,
      finish_reason = EXCLUDED.finish_reason, estimated = EXCLUDED.estimated,
      -- A call that failed after output had begun was charged; when it is made again, both count.
      input_tokens = model_calls.input_tokens + EXCLUDED.input_tokens, output_tokens = model_calls.output_tokens + EXCLUDED.output_tokens,
      credits = model_calls.credits + EXCLUDED.credits, error_message = EXCLUDED.error_message, attempts = EXCLUDED.attempts,
      started_at = EXCLUDED.started_at, finished_at = EXCLUDED.finished_at, duration_ms = EXCLUDED.duration_ms, sequence = EXCLUDED.sequence
    WHERE model_calls.status <> 'Completed';
  END IF;
  IF p_steps IS NOT NULL THEN
    INSERT INTO steps (id, organization_id, run_id, key, step_number, iteration_number, tool_name, status, input, output, reasoning, input_tokens,
      output_tokens, actions, credits, error_message, attempts, child_run_id, started_at, finished_at, duration_ms, sequence)
    SELECT id, org, run, key, number, iteration, tool, status, input, output, reasoning, input_tokens, output_tokens, actions, credits,
      error, attempts, child, started_at, CASE WHEN status <> 'Running' THEN started_at + make_interval(secs => duration / 1000.0) END, duration, sequence
    FROM json_to_recordset(p_steps) AS s (id uuid, org uuid, run uuid, key text, number int, iteration int, tool text, status step_status, input text,
      output text, reasoning text, input_tokens int, output_tokens int, actions int, credits numeric, error text, attempts text, child uuid,
      started_at timestamptz, duration int, sequence int)
    ON CONFLICT (run_id, key) DO UPDATE SET status = EXCLUDED.status, output = EXCLUDED.output, actions = EXCLUDED.actions, credits = EXCLUDED.credits,
      error_message = EXCLUDED.error_message, attempts = EXCLUDED.attempts, started_at = EXCLUDED.started_at, finished_at = EXCLUDED.finished_at,
      duration_ms = EXCLUDED.duration_ms, sequence = EXCLUDED.sequence
    WHERE steps.status = 'Running';
  END IF;
  IF p_ends IS NULL AND p_holds IS NULL AND p_starts IS NULL THEN
    UPDATE worker_lanes SET flush = p_flush, answer = NULL WHERE worker_id = p_worker AND lane = p_lane;
    RETURN NULL;
  END IF;

  IF p_ends IS NOT NULL THEN
    SELECT array_agg(e), bool_or(refund) INTO ends, has_refunds FROM json_populate_recordset(NULL::end_item, p_ends) AS e;
  END IF;
  IF p_starts IS NOT NULL THEN
    SELECT array_agg(s), array_agg(CASE WHEN refused THEN 'refuse' ELSE 'run' END), bool_or(idem IS NOT NULL), bool_or(document IS NOT NULL),
      bool_or(delivery IS NOT NULL)
    INTO starts, verdicts, has_keys, has_documents, has_deliveries FROM json_populate_recordset(NULL::start_item, p_starts) AS s;

    -- Repetitions of earlier calls.
    IF has_keys THEN
      SELECT json_agg(q) INTO replays FROM (
        SELECT s.i, k.run_id AS run, k.response, k.request_hash = decode(s.hash, 'hex') AS same
        FROM unnest(starts) AS s
        JOIN idempotency_keys k ON k.organization_id = s.org AND k.scope = s.scope AND k.key = s.idem AND k.expires_at > now_) q;
      FOR r IN SELECT * FROM json_to_recordset(replays) AS p (i int, same boolean) LOOP
        verdicts[r.i + 1] := CASE WHEN r.same THEN 'replay' ELSE 'conflict' END;
      END LOOP;
    END IF;

    -- Rate limits. Calls with an unlimited rate have no key here. A webhook's repetition comes before its limit and does not count.
    FOR r IN
      SELECT rate_key, min(rate_limit) AS rate_limit, min(rate_seconds) AS rate_seconds, count(*)::int AS wanted, array_agg(i ORDER BY i) AS items
      FROM unnest(starts) WHERE rate_key IS NOT NULL AND NOT (replay_first AND verdicts[i + 1] IN ('replay', 'conflict'))
      GROUP BY rate_key ORDER BY rate_key
    LOOP
      DECLARE taken record; BEGIN
        taken := take_rate(r.rate_key, r.wanted, r.rate_limit, r.rate_seconds, p_at);
        kept := kept || json_build_object('key', r.rate_key, 'remaining', taken.remaining, 'reset', taken.reset_seconds);
        FOR n IN taken.granted + 1 .. r.wanted LOOP verdicts[r.items[n] + 1] := 'rate'; END LOOP;
      END;
    END LOOP;
    rates := array_to_json(kept);
  END IF;

  -- From here on organizations change: all that this flush touches are locked in one order.
  PERFORM 1 FROM organizations WHERE id IN (
    SELECT org FROM unnest(ends)
    UNION ALL SELECT org FROM json_to_recordset(p_holds) AS h (org uuid)
    UNION ALL SELECT org FROM unnest(starts) WHERE verdicts[i + 1] = 'run'
  ) ORDER BY id FOR NO KEY UPDATE;

  -- Ends come before holds and starts: they free credits and slots.
  IF p_ends IS NOT NULL THEN
    WITH e AS (
      SELECT * FROM unnest(ends)
    ), done AS (
      UPDATE runs SET status = e.status, finished_at = now_, output = e.output, error_code = e.code, error_message = e.message,
        cancelled_by = coalesce(e.cancelled_by, runs.cancelled_by), input_tokens = e.input_tokens, output_tokens = e.output_tokens, actions_used = e.actions,
        steps_executed = e.steps, credits_used = e.credits, held = 0, sequence = e.sequence
      FROM e JOIN runs was ON was.id = e.run
      -- Not `IN ('Pending', 'Running')`: that would scan the index of open runs.
      WHERE runs.id = e.run AND runs.epoch = e.epoch AND runs.status NOT IN ('Completed', 'Failed', 'Cancelled')
        AND CASE WHEN e.unclaimed THEN runs.claimed_by IS NULL ELSE runs.claimed_by = p_worker END
      RETURNING e.i, runs.id, runs.organization_id AS org, runs.root_run_id AS root, e.credits, e.note, e.status, was.held, was.admitted_at IS NOT NULL AS had_slot
    ), lines AS (
      -- What a child used was held by its root: that part of the hold is released with the child.
      SELECT org, id, i * 2 AS ord, 'release'::credit_entry_kind AS kind, CASE WHEN root = id THEN held ELSE credits END AS amount, note FROM done
      WHERE CASE WHEN root = id THEN held ELSE credits END > 0
      UNION ALL
      SELECT org, id, i * 2 + 1, 'charge', -credits, 'run ended' FROM done WHERE credits > 0
    ), posted AS (
      INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
      SELECT l.org, o.ledger_sequence + row_number() OVER w, l.kind, l.amount, o.balance + sum(l.amount) OVER w - l.amount, o.balance + sum(l.amount) OVER w,
        l.id, l.note, 'run', now_
      FROM lines l JOIN organizations o ON o.id = l.org WINDOW w AS (PARTITION BY l.org ORDER BY l.ord) RETURNING organization_id AS org, amount
    ), queued AS (
      INSERT INTO run_index_queue (run_id, organization_id) SELECT id, org FROM done
    ), sums AS (
      SELECT org, sum(amount) AS amount, sum(lines)::int AS lines, sum(slots)::int AS slots FROM (
        SELECT org, amount, 1 AS lines, 0 AS slots FROM posted
        UNION ALL SELECT org, 0, 0, 1 FROM done WHERE root = id AND had_slot) q
      GROUP BY org
    ), paid AS (
      UPDATE organizations o SET balance = balance + sums.amount, ledger_sequence = ledger_sequence + sums.lines, in_flight = in_flight - sums.slots,
        updated_at = now_
      FROM sums WHERE o.id = sums.org
    )
    SELECT json_agg(json_build_object('i', i, 'root', root, 'child', root <> id, 'credits', credits, 'failed', status <> 'Completed')),
      bool_or(root <> id), bool_or(status <> 'Completed') INTO ended, has_children, has_failed FROM done;
    IF has_children THEN
      UPDATE runs SET held = held - d.credits
      FROM (SELECT root, sum(credits) AS credits FROM json_to_recordset(ended) AS d (root uuid, child boolean, credits numeric) WHERE child GROUP BY root) d
      WHERE runs.id = d.root AND d.credits > 0;
    END IF;
    -- Whatever had begun and not finished ends with its run.
    IF has_failed THEN
      FOR r IN SELECT e.run, e.status, e.sequence FROM json_to_recordset(ended) AS d (i int, failed boolean) JOIN unnest(ends) AS e USING (i) WHERE d.failed LOOP
        UPDATE steps SET status = 'Failed', finished_at = now_, error_message = format('The run ended (%s) before this step had finished.', r.status),
          output = json_build_object('error', format('The run ended (%s) before this step had finished.', r.status))::text,
          duration_ms = greatest(0, round(extract(epoch FROM now_ - started_at) * 1000))::int, sequence = r.sequence
        WHERE run_id = r.run AND status = 'Running';
        UPDATE model_calls SET status = 'Failed', finished_at = now_, error_message = format('The run ended (%s) before this call had finished.', r.status),
          duration_ms = greatest(0, round(extract(epoch FROM now_ - started_at) * 1000))::int, sequence = r.sequence
        WHERE run_id = r.run AND status = 'Running';
      END LOOP;
    END IF;
    -- After a fault of the platform nothing is charged: what ended children of the run were charged is refunded.
    IF has_refunds THEN
      FOR r IN
        WITH RECURSIVE tree AS (
          SELECT e.run AS root, e.run AS id, e.org FROM json_to_recordset(ended) AS d (i int) JOIN unnest(ends) AS e USING (i) WHERE e.refund
          UNION ALL SELECT tree.root, c.id, tree.org FROM runs c JOIN tree ON c.parent_run_id = tree.id)
        SELECT tree.org, c.run_id, -sum(c.amount) FILTER (WHERE c.kind = 'charge') AS charged
        FROM tree JOIN credit_entries c ON c.run_id = tree.id AND c.organization_id = tree.org
        GROUP BY tree.org, c.run_id HAVING sum(c.amount) FILTER (WHERE c.kind = 'charge') < 0 AND NOT bool_or(c.kind = 'refund') ORDER BY min(c.sequence)
      LOOP
        UPDATE organizations SET balance = balance + r.charged, ledger_sequence = ledger_sequence + 1 WHERE id = r.org;
        INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
        SELECT r.org, ledger_sequence, 'refund', r.charged, balance - r.charged, balance, r.run_id, 'the calling run ended by a fault of the platform', 'run', now_
        FROM organizations WHERE id = r.org;
      END LOOP;
    END IF;
  END IF;

  -- Larger holds of running runs: all of an organization if they fit together, else one by one.
  IF p_holds IS NOT NULL THEN
    holds := array_fill('held'::text, ARRAY[json_array_length(p_holds)]);
    FOR r IN SELECT org, sum(amount) AS total, array_agg(i ORDER BY i) AS items, array_agg(amount ORDER BY i) AS amounts
             FROM json_to_recordset(p_holds) AS h (i int, org uuid, amount numeric) GROUP BY org ORDER BY org LOOP
      SELECT balance INTO org_balance FROM organizations WHERE id = r.org;
      IF org_balance < r.total THEN
        FOR n IN 1 .. array_length(r.items, 1) LOOP
          IF org_balance < r.amounts[n] THEN holds[r.items[n] + 1] := 'uncovered'; ELSE org_balance := org_balance - r.amounts[n]; END IF;
        END LOOP;
      END IF;
    END LOOP;
    WITH h AS (
      SELECT * FROM json_to_recordset(p_holds) AS h (i int, run uuid, org uuid, amount numeric) WHERE holds[i + 1] = 'held'
    ), raised AS (
      UPDATE runs SET held = held + q.amount FROM (SELECT run, sum(amount) AS amount FROM h GROUP BY run) q WHERE runs.id = q.run
    ), posted AS (
      INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
      SELECT h.org, o.ledger_sequence + row_number() OVER w, 'hold', -h.amount, o.balance - sum(h.amount) OVER w + h.amount, o.balance - sum(h.amount) OVER w,
        h.run, 'hold extended', 'run', now_
      FROM h JOIN organizations o ON o.id = h.org WINDOW w AS (PARTITION BY h.org ORDER BY h.i) RETURNING organization_id AS org, amount
    )
    UPDATE organizations o SET balance = balance + s.amount, ledger_sequence = ledger_sequence + s.n, updated_at = now_
    FROM (SELECT org, sum(amount) AS amount, count(*)::int AS n FROM posted GROUP BY org) s WHERE o.id = s.org;
  END IF;

  IF p_starts IS NOT NULL THEN
    -- The key of a repetition is claimed before anything is held; another process may have been faster.
    IF has_keys THEN
      WITH s AS (
        SELECT * FROM unnest(starts) WHERE idem IS NOT NULL AND verdicts[i + 1] = 'run' ORDER BY org, scope, idem
      ), mine AS (
        INSERT INTO idempotency_keys AS k (organization_id, scope, key, request_hash, run_id, response, created_at, expires_at)
        SELECT org, scope, idem, decode(hash, 'hex'), id, response, now_, now_ + interval '1 day' FROM s
        ON CONFLICT (organization_id, scope, key) DO UPDATE SET request_hash = EXCLUDED.request_hash, run_id = EXCLUDED.run_id, response = EXCLUDED.response,
          created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at WHERE k.expires_at <= now_
        RETURNING run_id)
      SELECT array_agg(i) AS again INTO r FROM s WHERE id NOT IN (SELECT run_id FROM mine);
      FOR n IN 1 .. coalesce(array_length(r.again, 1), 0) LOOP verdicts[r.again[n] + 1] := 'again'; END LOOP;
    END IF;

    FOR r IN SELECT org, count(*)::int AS wanted, array_agg(i ORDER BY i) AS items, array_agg(hold ORDER BY i) AS holds,
               array_agg(headroom ORDER BY i) AS headrooms
             FROM unnest(starts) WHERE verdicts[i + 1] = 'run' GROUP BY org ORDER BY org LOOP
      DECLARE o record; room int; BEGIN
        SELECT balance, suspended_at IS NOT NULL AS suspended, in_flight, concurrency, EXISTS (
            SELECT FROM runs WHERE organization_id = r.org AND status IN ('Pending', 'Running') AND admitted_at IS NULL AND parent_run_id IS NULL AND wake_at IS NULL
          ) AS queued INTO o
        FROM organizations JOIN plans ON organization_id = id WHERE id = r.org;
        room := CASE WHEN o.queued THEN 0 ELSE greatest(0, least(slots, o.concurrency - o.in_flight)) END;
        used := 0;
        FOR n IN 1 .. r.wanted LOOP
          IF o.suspended THEN verdicts[r.items[n] + 1] := 'suspended';
          ELSIF o.balance < r.holds[n] THEN verdicts[r.items[n] + 1] := 'credits';
          ELSIF used >= room THEN verdicts[r.items[n] + 1] := 'wait'; o.balance := o.balance - r.holds[n];
          ELSE
            used := used + 1;
            o.balance := o.balance - r.holds[n];
            -- Credits for the whole first iteration, as long as the balance covers every start of this flush.
            IF o.balance >= r.headrooms[n] AND r.headrooms[n] > 0 THEN
              verdicts[r.items[n] + 1] := 'run+'; o.balance := o.balance - r.headrooms[n];
            END IF;
          END IF;
        END LOOP;
        slots := slots - used;
      END;
    END LOOP;
    IF has_documents THEN
      INSERT INTO configurations (organization_id, hash, document, created_at)
      SELECT DISTINCT ON (org, configuration) org, decode(configuration, 'hex'), document, now_
      FROM unnest(starts) WHERE document IS NOT NULL AND verdicts[i + 1] IN ('run', 'run+', 'wait')
      ON CONFLICT (organization_id, hash) DO NOTHING;
    END IF;
    WITH s AS (
      SELECT *, verdicts[i + 1] AS verdict, verdicts[i + 1] <> 'wait' AS begins FROM unnest(starts) WHERE verdicts[i + 1] IN ('run', 'run+', 'wait')
    ), started AS (
      INSERT INTO runs (id, organization_id, kind, agent_id, tool_id, target_name, target_version, model, configuration_hash, status, source, trigger_id,
        api_key_id, user_id, root_run_id, input, held, max_credits, max_credits_of, created_at, deadline_seconds, started_at, admitted_at, claimed_by, epoch, sequence)
      SELECT id, org, kind, agent, tool, name, version, model, decode(configuration, 'hex'), CASE WHEN begins THEN 'Running' ELSE 'Pending' END::run_status,
        source, trigger, api_key, "user", id, input, CASE WHEN verdict = 'run+' THEN hold + headroom ELSE hold END, cap, cap_of, now_, deadline,
        CASE WHEN begins THEN now_ END, CASE WHEN begins THEN now_ END, CASE WHEN begins THEN p_worker END, begins::int, 1
      FROM s
    ), lines AS (
      SELECT org, i * 2 AS ord, id, -hold AS amount, 'run started' AS note, actor, begins::int AS slots FROM s
      UNION ALL SELECT org, i * 2 + 1, id, -headroom, 'hold extended', 'run', 0 FROM s WHERE verdict = 'run+'
    ), posted AS (
      INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
      SELECT l.org, o.ledger_sequence + row_number() OVER w, 'hold', l.amount, o.balance + sum(l.amount) OVER w - l.amount, o.balance + sum(l.amount) OVER w,
        l.id, l.note, l.actor, now_
      FROM lines l JOIN organizations o ON o.id = l.org WINDOW w AS (PARTITION BY l.org ORDER BY l.ord)
    )
    UPDATE organizations o SET balance = balance + p.amount, ledger_sequence = ledger_sequence + p.n, in_flight = in_flight + p.slots, updated_at = now_
    FROM (SELECT org, sum(amount) AS amount, count(*)::int AS n, sum(slots)::int AS slots FROM lines GROUP BY org) p WHERE o.id = p.org;
    IF has_deliveries THEN
      INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, headers, body, body_bytes, sender_id, redelivery_of, run_id)
      SELECT d.id, s.org, s.trigger, d.received_at, 'accepted', 200, d.headers, decode(d.body, 'base64'), octet_length(decode(d.body, 'base64')), d.sender,
        d.redelivery_of, s.id
      FROM unnest(starts) AS s, json_to_record(s.delivery) AS d (id uuid, received_at timestamptz, headers text, body text, sender text, redelivery_of uuid)
      WHERE s.delivery IS NOT NULL AND verdicts[i + 1] IN ('run', 'run+', 'wait');
    END IF;
    -- Starts that were refused keep no key.
    IF has_keys THEN
      DELETE FROM idempotency_keys k USING unnest(starts) AS s
      WHERE s.idem IS NOT NULL AND verdicts[s.i + 1] IN ('credits', 'suspended')
        AND k.organization_id = s.org AND k.scope = s.scope AND k.key = s.idem AND k.run_id = s.id;
    END IF;
  END IF;
  answer_ := json_build_object('at', now_, 'starts', verdicts, 'rates', rates, 'replays', replays, 'holds', holds, 'ended', ended)::text;
  UPDATE worker_lanes SET flush = p_flush, answer = answer_ WHERE worker_id = p_worker AND lane = p_lane;
  RETURN answer_;
END $$;

-- Gives waiting runs slots: organization by organization, fewest in flight first, oldest first within one, as far as plans
-- allow. The runs are claimed by `p_worker`; without one they are handed over to an Inngest server, whose calls claim them.
CREATE FUNCTION claim_waiting_runs(p_worker text, p_slots int, p_at timestamptz)
RETURNS TABLE (run uuid, run_kind run_kind, run_epoch int, run_segment int) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE now_ timestamptz(3); chosen uuid[]; orgs uuid[];
BEGIN
  IF p_worker IS NOT NULL THEN
    PERFORM 1 FROM workers w WHERE w.id = p_worker FOR KEY SHARE;
    IF NOT FOUND THEN RAISE EXCEPTION 'worker % was replaced', p_worker USING ERRCODE = 'SW001'; END IF;
  END IF;
  WITH RECURSIVE waiting AS (
    (SELECT organization_id FROM runs WHERE status IN ('Pending', 'Running') AND admitted_at IS NULL AND parent_run_id IS NULL AND wake_at IS NULL ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT r.organization_id FROM runs r WHERE r.status IN ('Pending', 'Running') AND r.admitted_at IS NULL AND r.parent_run_id IS NULL AND r.wake_at IS NULL
              AND r.organization_id > w.organization_id ORDER BY r.organization_id LIMIT 1)
    FROM waiting w WHERE w.organization_id IS NOT NULL)
  SELECT array_agg(w.organization_id) INTO orgs FROM waiting w JOIN organizations o ON o.id = w.organization_id JOIN plans p ON p.organization_id = o.id
  WHERE o.in_flight < p.concurrency;
  IF orgs IS NULL THEN RETURN; END IF;
  PERFORM 1 FROM organizations o WHERE o.id = ANY(orgs) ORDER BY o.id FOR NO KEY UPDATE;
  now_ := coalesce(p_at, clock_timestamp());
  SELECT array_agg(id) INTO chosen FROM (
    SELECT c.id FROM (
      SELECT r.id, o.in_flight + row_number() OVER (PARTITION BY o.id ORDER BY r.id) AS turn
      FROM organizations o JOIN plans p ON p.organization_id = o.id CROSS JOIN LATERAL (
        SELECT q.id FROM runs q WHERE q.organization_id = o.id AND q.status IN ('Pending', 'Running') AND q.admitted_at IS NULL AND q.parent_run_id IS NULL AND q.wake_at IS NULL
          AND q.cancel_requested_at IS NULL
        ORDER BY q.id LIMIT greatest(0, least(p_slots, p.concurrency - o.in_flight))) r
      WHERE o.id = ANY(orgs)) c
    ORDER BY c.turn, c.id LIMIT p_slots) q;
  IF chosen IS NULL THEN RETURN; END IF;
  RETURN QUERY
    WITH claimed AS (
      UPDATE runs SET admitted_at = now_, sequence = runs.sequence + 1,
        claimed_by = p_worker, epoch = runs.epoch + CASE WHEN p_worker IS NULL THEN 0 ELSE 1 END,
        status = CASE WHEN p_worker IS NULL THEN runs.status ELSE 'Running' END,
        started_at = CASE WHEN p_worker IS NULL THEN runs.started_at ELSE coalesce(runs.started_at, now_) END,
        resumed_at = CASE WHEN cardinality(runs.resumed_at) < cardinality(runs.yielded_at) THEN runs.resumed_at || now_ ELSE runs.resumed_at END
      WHERE runs.id = ANY(chosen) AND runs.status IN ('Pending', 'Running') AND runs.admitted_at IS NULL AND runs.cancel_requested_at IS NULL
      RETURNING runs.id, runs.organization_id, runs.kind, runs.epoch, cardinality(runs.yielded_at) + 1 AS segment
    ), counted AS (
      UPDATE organizations o SET in_flight = o.in_flight + c.n FROM (SELECT organization_id, count(*)::int AS n FROM claimed GROUP BY 1) c WHERE o.id = c.organization_id
    )
    SELECT c.id, c.kind, c.epoch, c.segment FROM claimed c;
END $$;

-- Deletes a worker and gives its runs back: they wait for a slot again. Waits for flushes in progress, which hold its lanes.
CREATE FUNCTION remove_worker(p_worker text) RETURNS int LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE n int;
BEGIN
  -- The lanes first: a flush that holds one still needs the worker's row, for the foreign key of its second update of the lane.
  PERFORM 1 FROM worker_lanes WHERE worker_id = p_worker ORDER BY lane FOR UPDATE;
  DELETE FROM workers WHERE id = p_worker;
  IF NOT FOUND THEN RETURN 0; END IF;
  PERFORM 1 FROM organizations WHERE id IN (SELECT organization_id FROM runs WHERE claimed_by = p_worker AND status IN ('Pending', 'Running'))
  ORDER BY id FOR NO KEY UPDATE;
  WITH freed AS (
    UPDATE runs SET claimed_by = NULL, admitted_at = CASE WHEN parent_run_id IS NULL THEN NULL ELSE admitted_at END
    WHERE claimed_by = p_worker AND status IN ('Pending', 'Running') RETURNING organization_id, parent_run_id
  ), counted AS (
    UPDATE organizations o SET in_flight = in_flight - f.n
    FROM (SELECT organization_id, count(*)::int AS n FROM freed WHERE parent_run_id IS NULL GROUP BY 1) f WHERE o.id = f.organization_id
  )
  SELECT count(*) INTO n FROM freed;
  RETURN n;
END $$;

-- Sets a value of an organization, once per call: the write of a call that is repeated returns its first version. An expired
-- value counts as absent, and the next write of its key goes on from its version. Writes of one organization wait for
-- each other, which makes the bounds exact.
CREATE FUNCTION set_key_value(
  p_org uuid, p_call text, p_key text, p_value text, p_ttl_seconds int, p_if_version int, p_max_keys int, p_max_bytes int, p_at timestamptz
) RETURNS TABLE (outcome text, version int) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE now_ timestamptz(3) := coalesce(p_at, clock_timestamp()); known key_values%ROWTYPE; v_current int; v_next int; used record;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('key_values ' || p_org, 0));
  SELECT w.version INTO v_next FROM key_value_writes w WHERE w.organization_id = p_org AND w.call = p_call;
  IF FOUND THEN RETURN QUERY SELECT 'written', v_next; RETURN; END IF;
  SELECT * INTO known FROM key_values k WHERE k.organization_id = p_org AND k.key = p_key;
  v_current := CASE WHEN known.version IS NULL OR known.expires_at <= now_ THEN 0 ELSE known.version END;
  IF p_if_version IS NOT NULL AND p_if_version <> v_current THEN RETURN QUERY SELECT 'conflict', v_current; RETURN; END IF;
  SELECT count(*) AS keys, coalesce(sum(octet_length(k.key) + octet_length(k.value)), 0) AS bytes INTO used FROM key_values k
  WHERE k.organization_id = p_org AND k.key <> p_key AND (k.expires_at IS NULL OR k.expires_at > now_);
  IF used.keys >= p_max_keys THEN RETURN QUERY SELECT 'too many', v_current; RETURN; END IF;
  IF used.bytes + octet_length(p_key) + octet_length(p_value) > p_max_bytes THEN RETURN QUERY SELECT 'too large', v_current; RETURN; END IF;
  v_next := coalesce(known.version, 0) + 1;
  INSERT INTO key_values (organization_id, key, value, version, updated_at, expires_at)
  VALUES (p_org, p_key, p_value, v_next, now_, now_ + make_interval(secs => p_ttl_seconds))
  ON CONFLICT (organization_id, key) DO UPDATE
    SET value = excluded.value, version = excluded.version, updated_at = excluded.updated_at, expires_at = excluded.expires_at;
  INSERT INTO key_value_writes (organization_id, call, version, written_at) VALUES (p_org, p_call, v_next, now_);
  RETURN QUERY SELECT 'written', v_next;
END $$;

-- Processes cache what requests read of an organization's configuration. Whatever changes it notifies them with the
-- organization's id (server/db/configuration-cache.ts).
CREATE FUNCTION notify_configuration() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed record; org uuid;
BEGIN
  IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
  IF TG_TABLE_NAME = 'organizations' THEN org := changed.id; ELSE org := changed.organization_id; END IF;
  PERFORM pg_notify('stepwell_configuration', org::text);
  RETURN NULL;
END $$;
CREATE FUNCTION notify_configuration_of_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed record; org uuid;
BEGIN
  IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
  SELECT organization_id INTO org FROM triggers WHERE id = changed.trigger_id;
  IF org IS NOT NULL THEN PERFORM pg_notify('stepwell_configuration', org::text); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER notify_configuration AFTER UPDATE OF suspended_at, name, model_providers ON organizations FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration_gone AFTER DELETE ON organizations FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR UPDATE OR DELETE ON plans FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER DELETE OR UPDATE OF name, scopes, target_ids, starts_per_minute, reads_per_minute, max_credits, expires_at, revoked_at
  ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR UPDATE OR DELETE ON agents FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR UPDATE OR DELETE ON tools FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR UPDATE OR DELETE ON triggers FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR UPDATE OR DELETE ON trigger_secrets FOR EACH ROW EXECUTE FUNCTION notify_configuration_of_trigger();
