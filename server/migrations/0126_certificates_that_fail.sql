-- no-transaction
-- Names that get no certificate.
create index concurrently if not exists certificate_failing on certificate (id desc)
  where problem is not null;
