-- AlterTable
ALTER TABLE "organizations" ALTER COLUMN "ledger_sequence" SET DATA TYPE BIGINT;

-- AlterTable
ALTER TABLE "credit_entries" DROP CONSTRAINT "credit_entries_pkey",
ALTER COLUMN "sequence" SET DATA TYPE BIGINT,
ADD CONSTRAINT "credit_entries_pkey" PRIMARY KEY ("organization_id", "sequence");
