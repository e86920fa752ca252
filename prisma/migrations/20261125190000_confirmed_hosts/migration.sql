-- A host that was added after the value was set may receive it only after the value is set again.
ALTER TABLE "secrets" ADD COLUMN "confirmed_hosts" TEXT[] DEFAULT ARRAY[]::TEXT[];
UPDATE secrets SET confirmed_hosts = allowed_hosts WHERE sealed IS NOT NULL;
ALTER TABLE secrets ADD CONSTRAINT secrets_confirmed_hosts CHECK (confirmed_hosts <@ allowed_hosts);
