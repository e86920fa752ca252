ALTER TABLE users ADD COLUMN operator_since TIMESTAMPTZ(3);
ALTER TABLE workers ADD COLUMN figures TEXT;

CREATE TABLE queue_samples (
  at TIMESTAMPTZ(3) NOT NULL,
  waiting INTEGER NOT NULL,
  slots_used INTEGER NOT NULL,
  CONSTRAINT queue_samples_pkey PRIMARY KEY (at)
);

CREATE TABLE database_samples (
  day DATE NOT NULL,
  taken_at TIMESTAMPTZ(3) NOT NULL,
  bytes BIGINT NOT NULL,
  tables TEXT NOT NULL,
  CONSTRAINT database_samples_pkey PRIMARY KEY (day)
);

CREATE TABLE maintenance_jobs (
  name TEXT NOT NULL,
  finished_at TIMESTAMPTZ(3) NOT NULL,
  took_ms INTEGER NOT NULL,
  failed BOOLEAN NOT NULL,
  result TEXT NOT NULL,
  CONSTRAINT maintenance_jobs_pkey PRIMARY KEY (name)
);
