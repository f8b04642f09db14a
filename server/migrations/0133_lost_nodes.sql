-- A node that is lost, and its servers, which come up on others from backups (decision 123).
-- By the clock of the database: when a portal last promised the node that it may take writes, and
-- until when; without an end the node keeps to no lease.
alter table node add column lease_at timestamptz;
alter table node add column lease_until timestamptz;

-- A move that copies nothing: the server comes up from this backup, whose content is of that time.
alter table site_move add column backup_id uuid;
alter table site_move add column content_at timestamptz;
-- By the clock of the database: a node that is heard of later than this has its servers still.
alter table site_move add column fenced_at timestamptz;
