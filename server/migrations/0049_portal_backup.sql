-- How the last nightly backup of the whole portal ended: one row.
create table portal_backup (
  one boolean primary key default true check (one),
  -- When one was last made and verified; null for never.
  verified_at timestamptz,
  -- Since when the newest have failed; null when the newest is good.
  failed_since timestamptz
);
insert into portal_backup (one) values (true);
