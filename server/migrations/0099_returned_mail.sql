-- no-transaction
-- What came back last of a site is counted with what was refused at once.
create index concurrently if not exists site_mail_returned on site_mail (site_id, returned_at desc)
  where returned_at is not null;
