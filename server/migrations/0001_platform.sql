-- Answers kept for Idempotency-Key. The body is sealed: an answer may hold what the database must not show.
create table idempotency (
  scope text not null,
  key text not null,
  fingerprint bytea not null,
  status_code int not null,
  body bytea not null,
  created_at timestamptz not null,
  primary key (scope, key)
);
create index idempotency_created on idempotency (created_at);

-- Counters of rate-limiter-flexible (its own table layout).
create unlogged table rate_limit (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
