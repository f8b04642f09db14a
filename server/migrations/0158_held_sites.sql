-- no-transaction
create index concurrently if not exists site_held on site (held_at) where held_at is not null;
