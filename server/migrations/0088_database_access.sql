-- Who has opened the database of which server: a ticket that counts once and for a minute, then
-- half an hour for the sign-in that it was given to.
create table site_database_access (
  ticket_hash bytea primary key,
  site_id uuid not null,
  customer_id uuid not null,
  session_id uuid not null references session (id) on delete cascade,
  ticket_until timestamptz not null,
  -- Null: the ticket was not used yet.
  open_until timestamptz
);
create index site_database_access_session on site_database_access (session_id, site_id);
