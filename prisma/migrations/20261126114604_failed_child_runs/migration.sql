-- Failed child runs are counted apart.
-- AlterTable
ALTER TABLE "run_counts" ADD COLUMN     "children_failed" INTEGER NOT NULL DEFAULT 0;

-- Everything is counted again.
DELETE FROM run_counts_until;
DELETE FROM run_counts;
