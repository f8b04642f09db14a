-- Which transactions changed the host names that the edge answers on, or how a site stands: the
-- edge's table is read anew only after one. A transaction id, and not a number from a sequence, for
-- a snapshot can say whether it was over when the table was read last. Rows are forgotten after a
-- day.
create table host_change (
  xid xid8 primary key default pg_current_xact_id(),
  at timestamptz not null default now()
);
create index host_change_at on host_change (at);

create function host_changed() returns trigger language plpgsql as $$
begin
  insert into host_change default values on conflict do nothing;
  return null;
end $$;
create trigger host_changed after insert or update or delete on host
  for each statement execute function host_changed();
create trigger site_stands_otherwise after update of status, deleted_at on site
  for each statement execute function host_changed();
