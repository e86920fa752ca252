-- contract: nothing is released yet, and entries are counted beyond 32 bits
ALTER TABLE "organizations" ALTER COLUMN "ledger_sequence" SET DATA TYPE BIGINT;
-- contract: nothing is released yet, and entries are counted beyond 32 bits
ALTER TABLE "credit_entries" ALTER COLUMN "sequence" SET DATA TYPE BIGINT;
