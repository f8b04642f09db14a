-- What a person asks about their data, with the day by which it is answered (decision 125).
create table data_request (
  id uuid primary key,
  -- Null: somebody who is no customer.
  customer_id uuid references customer (id) on delete cascade,
  kind text not null check (kind in ('access', 'correction', 'objection', 'erasure')),
  -- Who asked, and how: of what came by letter or by phone.
  asked_by text,
  text text not null,
  -- Null: the customer, on the account page.
  entered_by text,
  received_at timestamptz not null,
  due_at timestamptz not null,
  state text not null default 'open' check (state in ('open', 'done', 'refused')),
  decided_at timestamptz,
  decided_by text,
  -- What the person was told.
  answer text,
  check ((state = 'open') = (decided_at is null))
);
create index data_request_due on data_request (due_at, id) where state = 'open';
create index data_request_decided on data_request (decided_at desc, id desc)
  where decided_at is not null;
create index data_request_of_customer on data_request (customer_id, received_at desc);
