-- One row a year and region: its lock makes the numbers gapless.
create table invoice_counter (
  year int not null,
  region_code text not null,
  last bigint not null,
  primary key (year, region_code)
);

create table subscription (
  id uuid primary key,
  customer_id uuid not null references customer (id),
  -- Monthly price in minor units, frozen for the running period.
  price bigint not null check (price >= 0),
  currency text not null,
  -- Day of the month of the order, 1..31; shorter months renew on their last day.
  anchor_day int not null check (anchor_day between 1 and 31),
  status text not null check (status in ('pending', 'active', 'ended')),
  period_start timestamptz,
  period_end timestamptz,
  created_at timestamptz not null
);
create index subscription_of_customer on subscription (customer_id);

create table invoice (
  id uuid primary key,
  seq bigint generated always as identity unique,
  number text not null unique,
  token text not null unique,
  customer_id uuid not null references customer (id),
  subscription_id uuid references subscription (id),
  region_code text not null,
  product text not null,
  currency text not null,
  total bigint not null check (total >= 0),
  amount_paid bigint not null default 0,
  status text not null check (status in ('open', 'paid', 'void', 'refunded')),
  buyer jsonb not null,
  seller jsonb not null,
  -- The job to add when it is paid, and what it is about: { job, payload }.
  starts jsonb,
  -- What it is about, for events: { wp: { id } } or null.
  subject jsonb,
  created_at timestamptz not null,
  paid_at timestamptz,
  check (amount_paid between 0 and total)
);
create index invoice_of_customer on invoice (customer_id, seq desc);
create index invoice_open on invoice (customer_id, seq) where status = 'open';

create table invoice_line (
  invoice_id uuid not null references invoice (id),
  position int not null,
  description_en text not null,
  description_vi text not null,
  quantity bigint not null,
  unit_price bigint not null,
  amount bigint not null,
  period_start timestamptz,
  period_end timestamptz,
  primary key (invoice_id, position)
);

