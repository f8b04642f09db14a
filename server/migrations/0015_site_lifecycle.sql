-- Restarts: how many were asked for, and up to which the containers are known to be renewed.
alter table site
  add column generation int not null default 0,
  add column settled_generation int not null default 0,
  -- A server that is deleted keeps its row for its invoices, and its name.
  add column if not exists deleted_at timestamptz;
