-- The tidying finds what has become old by it.
create index notification_created on notification (created_at);
