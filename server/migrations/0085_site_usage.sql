-- What each site was visited and took, by spans of `minutes`: 5 for two days, 60 for two weeks,
-- 1440 (days of UTC) for ninety days (wordpress/usage-history.ts). A site that nobody visited has a
-- row of five minutes once an hour.
create table site_usage (
  site_id uuid not null,
  minutes smallint not null,
  at timestamptz not null,
  requests int not null,
  client_errors int not null,
  server_errors int not null,
  -- Answered with a page or file that the edge kept.
  cached int not null,
  -- Of all answers together, ms, and how many took how long (edge/traffic.ts).
  total_ms bigint not null,
  times int[] not null,
  -- The most that its containers took together.
  memory_mb int not null,
  cpu_ms bigint not null,
  files_mb int not null,
  database_mb int not null,
  primary key (site_id, minutes, at)
);
create index site_usage_at on site_usage (minutes, at);
