-- A member of the staff sees the portal as a customer does, and changes nothing (decision 104).
create table account_view (
  id uuid primary key,
  customer_id uuid not null references customer (id) on delete cascade,
  staff_session_id uuid not null references staff_session (id) on delete cascade,
  -- Opens it once; null when it has.
  ticket_hash bytea unique,
  -- Null until it is open.
  token_hash bytea unique,
  -- Null until it is open.
  opened_at timestamptz,
  -- Of the ticket, then of the token.
  expires_at timestamptz not null,
  -- Its line in the customer's history.
  sign_in_id bigint
);
create index account_view_customer on account_view (customer_id);
create index account_view_staff on account_view (staff_session_id);
create index account_view_expires on account_view (expires_at);

-- The customer is told of it among the sign-ins.
alter table sign_in add column until timestamptz;
alter table sign_in drop constraint sign_in_outcome_check;
alter table sign_in
  add constraint sign_in_outcome check (outcome in ('succeeded', 'failed', 'viewed')) not valid;
