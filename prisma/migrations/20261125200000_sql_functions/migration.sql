-- The functions that statements call are files in prisma/functions/ from now on. The runner of migrations creates them.
-- CreateTable
CREATE TABLE "sql_functions" (
    "name" TEXT NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sql_functions_pkey" PRIMARY KEY ("name")
);

DROP FUNCTION flush_writes;
DROP FUNCTION take_rate;
DROP FUNCTION claim_waiting_runs;
DROP FUNCTION remove_worker;
DROP FUNCTION set_key_value;
DROP FUNCTION count_runs;
DROP FUNCTION open_run_figures;
