-- The operator's own outgoing webhooks (decision 131): an address of nobody is the operator's. An
-- earlier release asks for addresses of one customer alone: it neither shows nor calls these.
alter table webhook_endpoint alter column customer_id drop not null;

-- What was due at `put_off_at` waits until `put_off_until`, for the receiver gave no answer. An
-- earlier release moves each delivery instead, and calls such a receiver sooner.
alter table webhook_endpoint add column put_off_at timestamptz;
alter table webhook_endpoint add column put_off_until timestamptz;

-- Whom a delivery to the operator tells of, so that it goes when their account is closed.
create table webhook_subject (
  delivery_id uuid primary key references webhook_delivery (id) on delete cascade,
  customer_id uuid not null
);
create index webhook_subject_of on webhook_subject (customer_id);

-- The outbox of what customers are not told. The relay makes deliveries of it, and deletes it.
create table operator_event (
  id bigint primary key generated always as identity,
  event text not null,
  -- Whom it is about; null: nobody in particular.
  customer_id uuid,
  payload jsonb not null,
  created_at timestamptz not null
);
