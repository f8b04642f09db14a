-- Changes of records before the domain's last hand-over, also before one that an older release made
-- after 0176. Apart from it, whose lock lets nobody read the table until its end.
update dns_change set by_former_owner = true from hand_over h
  where h.kind = 'domain' and h.subject_id = dns_change.zone_id and h.accepted_at >= dns_change.at
    and not dns_change.by_former_owner;
