
-- CreateEnum
CREATE TYPE "member_role" AS ENUM ('owner', 'admin', 'member', 'viewer');

-- CreateEnum
CREATE TYPE "agent_status" AS ENUM ('active', 'inactive');

-- CreateEnum
CREATE TYPE "run_kind" AS ENUM ('agent', 'tool');

-- CreateEnum
CREATE TYPE "run_status" AS ENUM ('Pending', 'Running', 'Completed', 'Failed', 'Cancelled');

-- CreateEnum
CREATE TYPE "run_source" AS ENUM ('api', 'webhook', 'dashboard', 'operator', 'run');

-- CreateEnum
CREATE TYPE "step_status" AS ENUM ('Running', 'Completed', 'Failed');

-- CreateEnum
CREATE TYPE "credit_entry_kind" AS ENUM ('grant', 'hold', 'charge', 'release', 'refund', 'adjustment');

-- CreateEnum
CREATE TYPE "delivery_outcome" AS ENUM ('accepted', 'repeated', 'rejected');

-- CreateEnum
CREATE TYPE "signature_scheme" AS ENUM ('hex', 'standard_webhooks');

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "verifications" (
    "id" UUID NOT NULL,
    "identifier" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "verifications_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "organizations" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "suspended_at" TIMESTAMPTZ(3),
    "suspended_reason" TEXT,
    "balance" DECIMAL(18,4) NOT NULL DEFAULT 0,
    "ledger_sequence" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "organizations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "plans" (
    "organization_id" UUID NOT NULL,
    "api_access" BOOLEAN NOT NULL DEFAULT true,
    "monthly_credits" DECIMAL(18,4) NOT NULL DEFAULT 0,
    "starts_per_minute" INTEGER NOT NULL DEFAULT 100,
    "reads_per_minute" INTEGER NOT NULL DEFAULT 600,
    "concurrency" INTEGER NOT NULL DEFAULT 10,
    "retention_days" INTEGER NOT NULL DEFAULT 30,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "plans_pkey" PRIMARY KEY ("organization_id")
);

-- CreateTable
CREATE TABLE "members" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" "member_role" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "members_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "agent_versions" (
    "agent_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "model" TEXT NOT NULL,
    "system_prompt" TEXT NOT NULL,
    "max_steps" INTEGER NOT NULL DEFAULT 8,
    "functions" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "tool_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "max_credits" DECIMAL(18,4),
    "deadline_seconds" INTEGER NOT NULL DEFAULT 900,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "agent_versions_pkey" PRIMARY KEY ("agent_id","number")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "tool_versions" (
    "tool_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "definition" TEXT NOT NULL,
    "max_credits" DECIMAL(18,4),
    "deadline_seconds" INTEGER NOT NULL DEFAULT 900,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_versions_pkey" PRIMARY KEY ("tool_id","number")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "trigger_secrets" (
    "id" UUID NOT NULL,
    "trigger_id" UUID NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "trigger_secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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
    "sender_id" TEXT,
    "redelivery_of" UUID,
    "run_id" UUID,

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "configurations" (
    "organization_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "document" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "configurations_pkey" PRIMARY KEY ("organization_id","hash")
);

-- CreateTable
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
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "admitted_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "deadline_seconds" INTEGER NOT NULL,
    "heartbeat_at" TIMESTAMPTZ(3),
    "waiting_since" TIMESTAMPTZ(3),
    "cancel_requested_at" TIMESTAMPTZ(3),
    "cancelled_by" TEXT,
    "epoch" INTEGER NOT NULL DEFAULT 0,
    "sequence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "rate_windows" (
    "key" TEXT NOT NULL,
    "hits" TIMESTAMPTZ(3)[],
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rate_windows_pkey" PRIMARY KEY ("key")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "settings" (
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "settings_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE UNIQUE INDEX "sessions_token_key" ON "sessions"("token");

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");

-- CreateIndex
CREATE INDEX "accounts_user_id_idx" ON "accounts"("user_id");

-- CreateIndex
CREATE INDEX "verifications_identifier_idx" ON "verifications"("identifier");

-- CreateIndex
CREATE UNIQUE INDEX "organizations_slug_key" ON "organizations"("slug");

-- CreateIndex
CREATE INDEX "members_user_id_idx" ON "members"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "members_organization_id_user_id_key" ON "members"("organization_id", "user_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_organization_id_name_idx" ON "api_keys"("organization_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_organization_id_id_key" ON "api_keys"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "agents_organization_id_id_key" ON "agents"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "agents_organization_id_slug_key" ON "agents"("organization_id", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "tools_organization_id_id_key" ON "tools"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "tools_organization_id_slug_key" ON "tools"("organization_id", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "triggers_token_hash_key" ON "triggers"("token_hash");

-- CreateIndex
CREATE UNIQUE INDEX "triggers_organization_id_id_key" ON "triggers"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "triggers_organization_id_slug_key" ON "triggers"("organization_id", "slug");

-- CreateIndex
CREATE INDEX "trigger_secrets_trigger_id_idx" ON "trigger_secrets"("trigger_id");

-- CreateIndex
CREATE INDEX "deliveries_organization_id_trigger_id_id_idx" ON "deliveries"("organization_id", "trigger_id", "id" DESC);

-- CreateIndex
CREATE INDEX "deliveries_run_id_idx" ON "deliveries"("run_id");

-- CreateIndex
CREATE INDEX "runs_organization_id_id_idx" ON "runs"("organization_id", "id" DESC);

-- CreateIndex
CREATE INDEX "runs_organization_id_status_id_idx" ON "runs"("organization_id", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "runs_organization_id_agent_id_id_idx" ON "runs"("organization_id", "agent_id", "id" DESC);

-- CreateIndex
CREATE INDEX "runs_organization_id_tool_id_id_idx" ON "runs"("organization_id", "tool_id", "id" DESC);

-- CreateIndex
CREATE INDEX "runs_organization_id_trigger_id_id_idx" ON "runs"("organization_id", "trigger_id", "id" DESC);

-- CreateIndex
CREATE INDEX "runs_organization_id_api_key_id_id_idx" ON "runs"("organization_id", "api_key_id", "id" DESC);

-- CreateIndex
CREATE INDEX "runs_parent_run_id_idx" ON "runs"("parent_run_id");

-- CreateIndex
CREATE INDEX "runs_organization_id_configuration_hash_idx" ON "runs"("organization_id", "configuration_hash");

-- CreateIndex
CREATE UNIQUE INDEX "steps_run_id_key_key" ON "steps"("run_id", "key");

-- CreateIndex
CREATE UNIQUE INDEX "steps_run_id_step_number_key" ON "steps"("run_id", "step_number");

-- CreateIndex
CREATE UNIQUE INDEX "model_calls_run_id_key_key" ON "model_calls"("run_id", "key");

-- CreateIndex
CREATE INDEX "credit_entries_run_id_idx" ON "credit_entries"("run_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");

-- CreateIndex
CREATE INDEX "rate_windows_updated_at_idx" ON "rate_windows"("updated_at");

-- CreateIndex
CREATE INDEX "audit_entries_organization_id_id_idx" ON "audit_entries"("organization_id", "id" DESC);

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "plans" ADD CONSTRAINT "plans_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "members" ADD CONSTRAINT "members_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_versions" ADD CONSTRAINT "agent_versions_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tools" ADD CONSTRAINT "tools_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tool_versions" ADD CONSTRAINT "tool_versions_tool_id_fkey" FOREIGN KEY ("tool_id") REFERENCES "tools"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_organization_id_agent_id_fkey" FOREIGN KEY ("organization_id", "agent_id") REFERENCES "agents"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_organization_id_tool_id_fkey" FOREIGN KEY ("organization_id", "tool_id") REFERENCES "tools"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "trigger_secrets" ADD CONSTRAINT "trigger_secrets_trigger_id_fkey" FOREIGN KEY ("trigger_id") REFERENCES "triggers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_organization_id_trigger_id_fkey" FOREIGN KEY ("organization_id", "trigger_id") REFERENCES "triggers"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "configurations" ADD CONSTRAINT "configurations_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_configuration_hash_fkey" FOREIGN KEY ("organization_id", "configuration_hash") REFERENCES "configurations"("organization_id", "hash") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_agent_id_fkey" FOREIGN KEY ("organization_id", "agent_id") REFERENCES "agents"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_tool_id_fkey" FOREIGN KEY ("organization_id", "tool_id") REFERENCES "tools"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_trigger_id_fkey" FOREIGN KEY ("organization_id", "trigger_id") REFERENCES "triggers"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_organization_id_api_key_id_fkey" FOREIGN KEY ("organization_id", "api_key_id") REFERENCES "api_keys"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_parent_run_id_fkey" FOREIGN KEY ("parent_run_id") REFERENCES "runs"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "steps" ADD CONSTRAINT "steps_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "model_calls" ADD CONSTRAINT "model_calls_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "credit_entries" ADD CONSTRAINT "credit_entries_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
