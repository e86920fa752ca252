-- What a provider gives with a reply besides its text and calls: reasoning to show, and a state that only goes back to it.
ALTER TABLE "model_calls" ADD COLUMN "reasoning" TEXT NOT NULL DEFAULT '', ADD COLUMN "state_sealed" BYTEA;
-- Sealed bytes cannot be compressed.
ALTER TABLE model_calls ALTER COLUMN state_sealed SET STORAGE EXTERNAL;
-- For the rotation of the service secret.
CREATE INDEX model_calls_state ON model_calls (id) WHERE state_sealed IS NOT NULL;
