-- Lists show root runs by default, of one status or of any.
CREATE INDEX run_index_roots ON run_index (organization_id, run_id DESC) WHERE source <> 'run';
CREATE INDEX run_index_root_status ON run_index (organization_id, status, run_id DESC) WHERE source <> 'run';
