-- no-transaction
create index concurrently if not exists site_deleted on site (deleted_at)
  where deleted_at is not null;
