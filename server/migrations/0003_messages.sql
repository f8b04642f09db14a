-- What must be sent to a person. The text is sealed and erased once it is sent.
create table message (
  id uuid primary key,
  channel text not null check (channel in ('sms', 'mail')),
  recipient text not null,
  subject text,
  sealed_text bytea,
  created_at timestamptz not null,
  sent_at timestamptz
);
