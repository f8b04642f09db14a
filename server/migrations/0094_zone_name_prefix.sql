-- no-transaction
-- A domain by its beginning, whatever the collation of the database.
create index concurrently if not exists dns_zone_name_prefix on dns_zone (name text_pattern_ops)
  where deleted_at is null;
