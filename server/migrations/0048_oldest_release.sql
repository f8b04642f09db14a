-- Which migrations from here on are applied, and the oldest release that may run on the schema
-- after each of them. Those before stand in kysely_migration (decision 51).
create table schema_migration (
  name text primary key,
  oldest_release int not null check (oldest_release > 0),
  applied_at timestamptz not null
);
