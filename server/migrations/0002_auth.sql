create table customer (
  id uuid primary key,
  email text not null,
  phone text not null,
  name text not null,
  password_hash text not null,
  region_code text not null check (region_code in ('VN', 'USD', 'EURO', 'AUD')),
  address_line text,
  location_id text,
  active boolean not null default false,
  created_at timestamptz not null,
  constraint customer_email_unique unique (email),
  constraint customer_phone_unique unique (phone),
  check (email = lower(email))
);

create table session (
  token_hash bytea primary key,
  customer_id uuid not null references customer (id) on delete cascade,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  expires_at timestamptz not null
);
create index session_customer on session (customer_id);
create index session_expires on session (expires_at);

-- At most one live code per customer and purpose; only a keyed fingerprint of it is stored.
create table one_time_code (
  customer_id uuid not null references customer (id) on delete cascade,
  purpose text not null check (purpose in ('activate', 'recover')),
  code_fingerprint bytea not null,
  tries int not null default 0,
  sent_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (customer_id, purpose)
);
