-- What stood behind the server when the backup was made (decision 129): a server that has moved to
-- a node with the other database is not restored from it. Null: an earlier release made it.
alter table site_backup add column database text;
