-- Of the SMS of a day, those to numbers of accounts that are not activated: they have a share.
alter table sms_day add column newcomers int not null default 0;
