-- When a run gave its place back, and when it went on: the waits that its timeline shows (server/runs/turns.ts).
ALTER TABLE "runs" ADD COLUMN     "gave_back_at" TIMESTAMPTZ(3)[] DEFAULT ARRAY[]::TIMESTAMPTZ(3)[],
ADD COLUMN     "regained_at" TIMESTAMPTZ(3)[] DEFAULT ARRAY[]::TIMESTAMPTZ(3)[];
