-- A lost node's mirrored servers come up elsewhere by rule (decision 135).
-- By the clock of the database: until when the server's node may take writes for it without a word
-- of a portal. Null: the node has not said that it keeps to that.
alter table site_mirror add column writes_until timestamptz;
-- `lease_at` of the newest promise that named those servers. A later promise, by a portal of an
-- older release, does not: the node keeps to nothing of it then.
alter table node add column mirrors_told_at timestamptz;
-- The node's own clock at the newest promise, ms since its process began.
alter table node add column lease_mark float8;
