-- What the migrations make and schema.prisma cannot express, as PostgreSQL prints it. Generated: after a migration, run
-- npx vitest run tools/schema-difference.db.test.ts -u

ALTER TABLE agent_versions ADD CONSTRAINT agent_versions_ranges CHECK (((number >= 1) AND ((deadline_seconds >= 1) AND (deadline_seconds <= 86400)) AND (COALESCE(max_credits, (1)::numeric) > (0)::numeric)));
ALTER TABLE agents ADD CONSTRAINT agents_slug_shape CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'::text));
ALTER TABLE api_keys ADD CONSTRAINT api_keys_hash_length CHECK ((octet_length(hash) = 32));
ALTER TABLE api_keys ADD CONSTRAINT api_keys_limits CHECK (((COALESCE(starts_per_minute, 1) >= 1) AND (COALESCE(reads_per_minute, 1) >= 1) AND (COALESCE(max_credits, (1)::numeric) > (0)::numeric)));
ALTER TABLE callback_endpoints ADD CONSTRAINT callback_endpoints_address CHECK (((slug IS NULL) = (url IS NULL)));
ALTER TABLE callback_endpoints ADD CONSTRAINT callback_endpoints_credits CHECK (((credits_below > (0)::numeric) AND ((credits_below IS NOT NULL) = ('credits.low'::text = ANY (events)))));
ALTER TABLE callback_endpoints ADD CONSTRAINT callback_endpoints_slug_shape CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'::text));
ALTER TABLE deliveries ADD CONSTRAINT deliveries_outcome CHECK ((((outcome = 'rejected'::delivery_outcome) AND (code IS NOT NULL) AND (reason IS NOT NULL) AND (run_id IS NULL)) OR ((outcome = 'filtered'::delivery_outcome) AND (code IS NULL) AND (run_id IS NULL)) OR ((outcome = ANY (ARRAY['accepted'::delivery_outcome, 'repeated'::delivery_outcome])) AND (code IS NULL) AND (run_id IS NOT NULL))));
ALTER TABLE model_calls ADD CONSTRAINT model_calls_finished CHECK (((status = 'Running'::step_status) = (finished_at IS NULL)));
ALTER TABLE organizations ADD CONSTRAINT organizations_balance_not_negative CHECK ((balance >= (0)::numeric));
ALTER TABLE organizations ADD CONSTRAINT organizations_in_flight CHECK ((in_flight >= 0));
ALTER TABLE organizations ADD CONSTRAINT organizations_slug_shape CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'::text));
ALTER TABLE organizations SET (fillfactor=50);
ALTER TABLE plans ADD CONSTRAINT plans_ranges CHECK (((monthly_credits >= (0)::numeric) AND (COALESCE(starts_per_minute, 1) >= 1) AND (COALESCE(reads_per_minute, 1) >= 1) AND ((concurrency >= 1) AND (concurrency <= 10000)) AND ((retention_days >= 1) AND (retention_days <= 36500))));
ALTER TABLE rate_counters SET (fillfactor=50);
ALTER TABLE run_index_queue SET (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
ALTER TABLE runs SET (fillfactor=80);
ALTER TABLE schedule_ticks ADD CONSTRAINT schedule_ticks_outcome CHECK ((((outcome IS NULL) AND (code IS NULL) AND (reason IS NULL) AND (run_id IS NULL) AND (decided_at IS NULL)) OR ((outcome = 'started'::tick_outcome) AND (code IS NULL) AND (reason IS NULL) AND (run_id IS NOT NULL) AND (decided_at IS NOT NULL)) OR ((outcome = ANY (ARRAY['skipped'::tick_outcome, 'missed'::tick_outcome])) AND (code IS NOT NULL) AND (reason IS NOT NULL) AND (run_id IS NULL) AND (decided_at IS NOT NULL))));
ALTER TABLE schedules ADD CONSTRAINT schedules_one_target CHECK (((agent_id IS NULL) <> (tool_id IS NULL)));
ALTER TABLE schedules ADD CONSTRAINT schedules_ranges CHECK ((((catch_up_seconds >= 60) AND (catch_up_seconds <= 86400)) AND ((jitter_seconds >= 0) AND (jitter_seconds <= 3600))));
ALTER TABLE schedules ADD CONSTRAINT schedules_rest CHECK (((next_at IS NULL) OR ((paused_at IS NULL) AND (deleted_at IS NULL))));
ALTER TABLE schedules ADD CONSTRAINT schedules_slug_shape CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'::text));
ALTER TABLE secrets ADD CONSTRAINT secrets_confirmed_hosts CHECK ((confirmed_hosts <@ allowed_hosts));
ALTER TABLE secrets ADD CONSTRAINT secrets_expire_with_value CHECK (((sealed IS NOT NULL) OR (expires_at IS NULL)));
ALTER TABLE secrets ADD CONSTRAINT secrets_have_hosts CHECK (((cardinality(allowed_hosts) >= 1) AND (cardinality(allowed_hosts) <= 20)));
ALTER TABLE secrets ADD CONSTRAINT secrets_name_shape CHECK ((name ~ '^[A-Za-z_][A-Za-z0-9_]{0,63}$'::text));
ALTER TABLE steps ADD CONSTRAINT steps_finished CHECK ((((status = 'Running'::step_status) AND (finished_at IS NULL) AND (output IS NULL)) OR ((status <> 'Running'::step_status) AND (finished_at IS NOT NULL) AND (output IS NOT NULL) AND (duration_ms IS NOT NULL))));
ALTER TABLE steps ADD CONSTRAINT steps_numbers CHECK (((step_number >= 1) AND (iteration_number >= 1) AND (actions >= 0) AND (credits >= (0)::numeric)));
ALTER TABLE tool_versions ADD CONSTRAINT tool_versions_ranges CHECK (((number >= 1) AND ((deadline_seconds >= 1) AND (deadline_seconds <= 86400)) AND (COALESCE(max_credits, (1)::numeric) > (0)::numeric)));
ALTER TABLE tools ADD CONSTRAINT tools_slug_shape CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'::text));
ALTER TABLE triggers ADD CONSTRAINT triggers_hash_length CHECK ((octet_length(token_hash) = 32));
ALTER TABLE triggers ADD CONSTRAINT triggers_limits CHECK ((((rate_limit_requests >= 1) AND (rate_limit_requests <= 100000)) AND ((rate_limit_seconds >= 1) AND (rate_limit_seconds <= 86400)) AND (COALESCE(max_credits, (1)::numeric) > (0)::numeric)));
ALTER TABLE triggers ADD CONSTRAINT triggers_one_target CHECK ((num_nonnulls(agent_id, tool_id) = 1));
ALTER TABLE triggers ADD CONSTRAINT triggers_slug_shape CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'::text));
ALTER TABLE worker_lanes SET (fillfactor=50);
ALTER TABLE workers SET (fillfactor=50);
CREATE FUNCTION credit_entries_append_only() RETURNS trigger VOLATILE /* md5 of the body: d0ecd97f58ed00598c17165f61171cc4 */;
CREATE FUNCTION credit_entries_rules() RETURNS trigger VOLATILE AS $$
DECLARE
  broken text := CASE
    WHEN NEW.balance_after <> NEW.balance_before + NEW.amount THEN 'credit_entries_adds_up'
    WHEN least(NEW.balance_before, NEW.balance_after) < 0 THEN 'credit_entries_not_negative'
    WHEN NEW.kind IN ('hold', 'charge', 'release') AND NEW.run_id IS NULL THEN 'credit_entries_run'
    WHEN NEW.kind IN ('grant', 'release', 'refund') AND NEW.amount < 0 OR NEW.kind IN ('hold', 'charge') AND NEW.amount > 0 THEN 'credit_entries_sign'
  END;
BEGIN
  IF broken IS NOT NULL THEN
    RAISE EXCEPTION 'credit entry % of organization % breaks %', NEW.sequence, NEW.organization_id, broken
      USING ERRCODE = 'check_violation', TABLE = 'credit_entries', CONSTRAINT = broken;
  END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION is_unspaced(text) RETURNS boolean IMMUTABLE /* md5 of the body: eb6f0691fe291f9d38545ffe2ff17f7c */;
CREATE FUNCTION notify_configuration() RETURNS trigger VOLATILE /* md5 of the body: 023b347d24c98fe3d86058ad83aaef15 */;
CREATE FUNCTION notify_configuration_of_trigger() RETURNS trigger VOLATILE /* md5 of the body: 30630a16a5c37bfd05e7953640626350 */;
CREATE FUNCTION prefix_words(text,text) RETURNS text[] IMMUTABLE /* md5 of the body: ddbd75c48c658e7861eb2e60075fe0b7 */;
CREATE FUNCTION quote_lexeme(text) RETURNS text IMMUTABLE /* md5 of the body: 55936ccee25264d227296075c41156a7 */;
CREATE FUNCTION run_duration_class(interval) RETURNS smallint IMMUTABLE /* md5 of the body: 65f37bb57674348c188ab5ac9bcb2df7 */;
CREATE FUNCTION run_id_floor(timestamp with time zone) RETURNS uuid IMMUTABLE /* md5 of the body: 3c77c33398e31d40562099a3c9942dd8 */;
CREATE FUNCTION run_keys(text,text,text) RETURNS text IMMUTABLE /* md5 of the body: 23c390eff3423a2846b979861f5a5581 */;
CREATE FUNCTION run_scope(uuid,uuid) RETURNS text IMMUTABLE /* md5 of the body: 35228073e75aee0f0481db530fa08800 */;
CREATE FUNCTION run_size_class(double precision) RETURNS integer IMMUTABLE /* md5 of the body: 55f3f304f8600c1910cb1ed18f3c4a01 */;
CREATE FUNCTION run_terms(uuid,uuid,run_kind,run_status,run_source,uuid,uuid,uuid,uuid,bigint,bigint,numeric,text) RETURNS tsvector IMMUTABLE SET search_path="$user", public /* md5 of the body: de1a32fe5a79e70a240d52f54f54823b */;
CREATE FUNCTION run_text(text,text,text) RETURNS text IMMUTABLE /* md5 of the body: 8f8f068b63572f997403b33ec003c05c */;
CREATE FUNCTION run_text_keys(text) RETURNS text[] IMMUTABLE /* md5 of the body: 9b848a726ffc247e77de6065f1c55f8b */;
CREATE FUNCTION run_text_words(text) RETURNS text[] IMMUTABLE /* md5 of the body: 96a43e123b3ecee1fcb77a8d6255ba6a */;
CREATE FUNCTION run_words_query(text,text,text[]) RETURNS tsquery STABLE /* md5 of the body: 098b84f255cea9cac2ac620b66ffda23 */;
CREATE FUNCTION runs_rules() RETURNS trigger VOLATILE AS $$
DECLARE
  broken text := CASE
    WHEN NOT CASE NEW.kind WHEN 'agent' THEN NEW.agent_id IS NOT NULL AND NEW.tool_id IS NULL AND NEW.model IS NOT NULL
      ELSE NEW.tool_id IS NOT NULL AND NEW.agent_id IS NULL END THEN 'runs_one_target'
    WHEN NEW.source = 'webhook' AND NEW.trigger_id IS NULL OR NEW.source = 'api' AND NEW.api_key_id IS NULL
      OR NEW.source = 'dashboard' AND NEW.user_id IS NULL OR (NEW.source = 'schedule') <> (NEW.schedule_id IS NOT NULL)
      OR (NEW.source = 'run') <> (NEW.parent_run_id IS NOT NULL) THEN 'runs_source'
    WHEN (NEW.parent_run_id IS NULL) <> (NEW.root_run_id = NEW.id) THEN 'runs_root'
    WHEN NOT CASE NEW.status WHEN 'Pending' THEN NEW.started_at IS NULL AND NEW.finished_at IS NULL
      WHEN 'Running' THEN NEW.started_at IS NOT NULL AND NEW.finished_at IS NULL
      WHEN 'Completed' THEN NEW.started_at IS NOT NULL AND NEW.finished_at IS NOT NULL
      ELSE NEW.finished_at IS NOT NULL END THEN 'runs_times'
    WHEN (NEW.status = 'Completed') <> (NEW.output IS NOT NULL) THEN 'runs_output'
    WHEN (NEW.status = 'Failed') <> (NEW.error_message IS NOT NULL) THEN 'runs_error'
    WHEN NEW.status = 'Cancelled' AND NEW.cancelled_by IS NULL THEN 'runs_cancelled'
    WHEN NEW.held <> 0 AND (NEW.root_run_id <> NEW.id OR NEW.status NOT IN ('Pending', 'Running')) THEN 'runs_hold_ends'
    WHEN least(NEW.steps_executed, NEW.input_tokens, NEW.output_tokens, NEW.actions_used) < 0 OR least(NEW.credits_used, NEW.held) < 0
      OR NEW.max_credits <= 0 THEN 'runs_figures'
  END;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.status NOT IN ('Pending', 'Running') THEN
      IF ROW(NEW.*) IS DISTINCT FROM ROW(OLD.*) THEN
        RAISE EXCEPTION 'run % is % and frozen', OLD.id, OLD.status USING ERRCODE = 'integrity_constraint_violation';
      END IF;
    ELSIF OLD.status = 'Running' AND NEW.status = 'Pending' THEN
      RAISE EXCEPTION 'run % cannot go back to Pending', OLD.id USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  END IF;
  IF broken IS NOT NULL THEN
    RAISE EXCEPTION 'run % breaks %', NEW.id, broken USING ERRCODE = 'check_violation', TABLE = 'runs', CONSTRAINT = broken;
  END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION words_fit(text,tsquery) RETURNS boolean IMMUTABLE /* md5 of the body: 00b3e13ed7d78e52248e18ad33b3fcd5 */;
CREATE INDEX callback_deliveries_due ON public.callback_deliveries USING btree (endpoint_id, next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX callback_deliveries_due_by_host ON public.callback_deliveries USING btree (endpoint_id, host_hash, next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX callback_deliveries_leased ON public.callback_deliveries USING btree (endpoint_id) WHERE (leased_until IS NOT NULL);
CREATE INDEX callback_deliveries_undelivered ON public.callback_deliveries USING btree (endpoint_id, id DESC) WHERE (delivered_at IS NULL);
CREATE INDEX callback_endpoints_watch_credits ON public.callback_endpoints USING btree (organization_id) WHERE ((credits_below IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX callback_events_new ON public.callback_events USING btree (created_at) WHERE (expanded_at IS NULL);
CREATE INDEX credit_entries_net ON public.credit_entries USING btree (organization_id, kind, sequence) WHERE (kind = ANY (ARRAY['grant'::credit_entry_kind, 'charge'::credit_entry_kind, 'refund'::credit_entry_kind, 'adjustment'::credit_entry_kind]));
CREATE INDEX deliveries_not_accepted ON public.deliveries USING btree (organization_id, trigger_id, outcome, id) WHERE (outcome <> 'accepted'::delivery_outcome);
CREATE INDEX deliveries_unaccepted_bodies ON public.deliveries USING btree (trigger_id, id DESC) INCLUDE (body_bytes) WHERE ((outcome <> 'accepted'::delivery_outcome) AND (body_bytes > 4096) AND (body_note IS NULL));
CREATE INDEX model_calls_state ON public.model_calls USING btree (id) WHERE (state_sealed IS NOT NULL);
CREATE INDEX run_index_api_key ON public.run_index USING btree (organization_id, api_key_id, run_id DESC) WHERE (api_key_id IS NOT NULL);
CREATE INDEX run_index_root_status ON public.run_index USING btree (organization_id, status, run_id DESC) WHERE (source <> 'run'::run_source);
CREATE INDEX run_index_roots ON public.run_index USING btree (organization_id, run_id DESC) WHERE (source <> 'run'::run_source);
CREATE INDEX run_index_terms ON public.run_index USING gin (run_terms(organization_id, run_id, kind, status, source, target_id, trigger_id, api_key_id, user_id, duration_ms, tokens, credits, words));
CREATE INDEX run_index_trigger ON public.run_index USING btree (organization_id, trigger_id, run_id DESC) WHERE (trigger_id IS NOT NULL);
CREATE INDEX runs_asleep ON public.runs USING btree (wake_at) WHERE ((status = ANY (ARRAY['Pending'::run_status, 'Running'::run_status])) AND (wake_at IS NOT NULL));
CREATE INDEX runs_cancelling ON public.runs USING btree (id) WHERE ((status = ANY (ARRAY['Pending'::run_status, 'Running'::run_status])) AND (cancel_requested_at IS NOT NULL));
CREATE INDEX runs_claimed ON public.runs USING btree (claimed_by) WHERE ((status = ANY (ARRAY['Pending'::run_status, 'Running'::run_status])) AND (claimed_by IS NOT NULL));
CREATE INDEX runs_forked_from ON public.runs USING btree (organization_id, forked_from) WHERE (forked_from IS NOT NULL);
CREATE INDEX runs_handed_over ON public.runs USING btree (admitted_at) WHERE ((status = ANY (ARRAY['Pending'::run_status, 'Running'::run_status])) AND (admitted_at IS NOT NULL) AND (claimed_by IS NULL) AND (parent_run_id IS NULL));
CREATE INDEX runs_of_schedule ON public.runs USING btree (schedule_id) WHERE ((status = ANY (ARRAY['Pending'::run_status, 'Running'::run_status])) AND (schedule_id IS NOT NULL));
CREATE INDEX runs_open ON public.runs USING btree (organization_id, id) WHERE (status = ANY (ARRAY['Pending'::run_status, 'Running'::run_status]));
CREATE INDEX runs_parent_run_id_idx ON public.runs USING btree (parent_run_id) WHERE (parent_run_id IS NOT NULL);
CREATE INDEX runs_suspect ON public.runs USING btree (organization_id, id) WHERE ((status = ANY (ARRAY['Pending'::run_status, 'Running'::run_status])) AND (crashes >= 2));
CREATE INDEX runs_waiting ON public.runs USING btree (organization_id, id) WHERE ((status = ANY (ARRAY['Pending'::run_status, 'Running'::run_status])) AND (admitted_at IS NULL) AND (parent_run_id IS NULL) AND (wake_at IS NULL));
CREATE INDEX schedule_ticks_undecided ON public.schedule_ticks USING btree (attempt_at) WHERE (outcome IS NULL);
CREATE INDEX schedules_next ON public.schedules USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX steps_running ON public.steps USING btree (run_id) WHERE (status = 'Running'::step_status);
CREATE TRIGGER credit_entries_append_only BEFORE DELETE OR UPDATE ON public.credit_entries FOR EACH ROW EXECUTE FUNCTION credit_entries_append_only();
CREATE TRIGGER credit_entries_rules BEFORE INSERT ON public.credit_entries FOR EACH ROW EXECUTE FUNCTION credit_entries_rules();
CREATE TRIGGER notify_configuration AFTER DELETE OR UPDATE OF name, scopes, target_ids, starts_per_minute, reads_per_minute, max_credits, expires_at, revoked_at ON public.api_keys FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR DELETE OR UPDATE ON public.agents FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR DELETE OR UPDATE ON public.plans FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR DELETE OR UPDATE ON public.tools FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER INSERT OR DELETE OR UPDATE ON public.trigger_secrets FOR EACH ROW EXECUTE FUNCTION notify_configuration_of_trigger();
CREATE TRIGGER notify_configuration AFTER INSERT OR DELETE OR UPDATE ON public.triggers FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration AFTER UPDATE OF suspended_at, name, model_providers ON public.organizations FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER notify_configuration_gone AFTER DELETE ON public.organizations FOR EACH ROW EXECUTE FUNCTION notify_configuration();
CREATE TRIGGER runs_rules BEFORE INSERT OR UPDATE ON public.runs FOR EACH ROW EXECUTE FUNCTION runs_rules();
CREATE TYPE end_item AS (i integer, run uuid, org uuid, epoch integer, unclaimed boolean, status run_status, output text, code text, message text, cancelled_by text, input_tokens integer, output_tokens integer, actions integer, steps integer, credits numeric, note text, refund boolean, sequence integer);
CREATE TYPE ledger_line AS (org uuid, run uuid, kind credit_entry_kind, amount numeric, note text, actor text, slots integer);
CREATE TYPE start_item AS (i integer, refused boolean, id uuid, org uuid, rate_key text, rate_limit integer, rate_seconds integer, scope text, idem text, hash text, response text, replay_first boolean, kind run_kind, agent uuid, tool uuid, name text, version integer, model text, configuration text, document text, source run_source, trigger uuid, api_key uuid, "user" uuid, input text, hold numeric, headroom numeric, cap numeric, cap_of text, deadline integer, actor text, delivery json, metadata text, callback_url text, trace_parent text, schedule uuid, fork text);
CREATE UNIQUE INDEX callback_endpoints_slug ON public.callback_endpoints USING btree (organization_id, slug) NULLS NOT DISTINCT WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX credit_entries_one_refund ON public.credit_entries USING btree (run_id) WHERE ((kind = 'refund'::credit_entry_kind) AND (run_id IS NOT NULL));
