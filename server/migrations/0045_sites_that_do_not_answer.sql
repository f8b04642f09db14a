-- Whether a server that should run answers its visitors: looked at every ten minutes, more often once it did not.
alter table site
  add column health_checked_at timestamptz,
  -- Looks in a row that found no answer; the second one counts.
  add column unanswered int not null default 0,
  add column down_since timestamptz,
  add column down_reason text;
create index site_health_due on site (health_checked_at nulls first) where status = 'running';
create index site_down on site (down_since) where down_since is not null;
