create table site (
  id uuid primary key,
  seq bigint generated always as identity unique,
  customer_id uuid not null references customer (id),
  name text not null unique check (name ~ '^[a-z][a-z0-9-]{1,40}[a-z0-9]$'),
  status text not null check (status in ('pending_payment', 'provisioning', 'running', 'suspended', 'failed', 'deleting')),
  reason text,
  plan_id int not null,
  plan_name text not null,
  cpu double precision not null,
  ram_mb int not null,
  disk_mb int not null,
  mariadb_disk_mb int not null,
  containers int not null,
  region_id int not null,
  region_name text not null,
  language text not null,
  price bigint not null,
  currency text not null,
  admin_user text not null,
  -- Sealed until WordPress is installed, then erased.
  admin_password_sealed bytea,
  invoice_id uuid references invoice (id),
  subscription_id uuid references subscription (id),
  -- Provisioning: the steps that are done, and attempts that failed.
  steps_done text[] not null default '{}',
  attempts int not null default 0,
  -- Counts the runs of the provisioning job: only the newest may finish or give up.
  run int not null default 0,
  -- Set once it is decided that the server will not come up, to the reason: from then on it is only cleaned away and paid back.
  giving_up text,
  created_at timestamptz not null,
  running_at timestamptz
);
create index site_of_customer on site (customer_id, seq desc);
create index site_of_invoice on site (invoice_id);
create index site_live on site (status) where status in ('running', 'provisioning', 'suspended');

-- One-use tickets for the log stream.
create unlogged table log_ticket (
  ticket_hash bytea primary key,
  site_id uuid not null,
  customer_id uuid not null,
  expires_at timestamptz not null
);
