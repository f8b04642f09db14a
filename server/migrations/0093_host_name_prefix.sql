-- no-transaction
-- A host name by its beginning, whatever the collation of the database.
create index concurrently if not exists host_name_prefix on host (name text_pattern_ops);
