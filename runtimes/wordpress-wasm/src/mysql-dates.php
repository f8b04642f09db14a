<?php
/**
 * Functions of dates and times that MySQL has and SQLite has not, or has otherwise: methods `sql_…`
 * are registered by mysql-functions.php. What is no date gives NULL, as in MySQL.
 */
final class Portal_Mysql_Dates {
	/**
	 * MySQL's words => how many seconds each has; the rest are counted in months. An integer of this
	 * PHP has 32 bits, and so a second of 2039 is none: what may be larger is a float here, and an
	 * integer again in the database.
	 */
	private const SECONDS = array( 'SECOND' => 1, 'MINUTE' => 60, 'HOUR' => 3600, 'DAY' => 86400,
		'WEEK' => 604800 );
	private const MONTHS = array( 'MONTH' => 1, 'QUARTER' => 3, 'YEAR' => 12 );

	/** A date or time as MySQL reads it; null where it is none. */
	private static function moment( $value ): ?DateTimeImmutable {
		$text = trim( (string) $value );
		if ( preg_match( '/^\d{8}(?:\d{6})?$/', $text ) )
			$text = preg_replace( '/^(....)(..)(..)(..)?(..)?(..)?$/', '$1-$2-$3 $4:$5:$6', $text );
		$shape = '/^(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T]+(\d{1,2})?:?(\d{1,2})?:?(\d{1,2})?(\.\d+)?)?$/';
		if ( ! preg_match( $shape, rtrim( $text, ' :' ), $part ) ) return null;
		$part = array_map( 'intval', $part ) + array_fill( 0, 7, 0 );
		if ( ! checkdate( $part[2], $part[3], max( 1, $part[1] ) ) || $part[4] > 23
			|| $part[5] > 59 || $part[6] > 59 ) return null;
		return ( new DateTimeImmutable( '@0' ) )->setDate( $part[1], $part[2], $part[3] )
			->setTime( $part[4], $part[5], $part[6] );
	}
	/** The answer of a function that takes one date. */
	private static function of( $date, callable $answer ) {
		$moment = null === $date ? null : self::moment( $date );
		return null === $moment ? null : $answer( $moment );
	}
	/** Whole days since 1970. */
	private static function day_number( DateTimeImmutable $moment ): int {
		$since = ( new DateTimeImmutable( '@0' ) )->diff( $moment->setTime( 0, 0 ) );
		return $since->invert ? -$since->days : $since->days;
	}
	private static function seconds( DateTimeImmutable $moment ): float {
		list( $hour, $minute, $second ) = explode( ':', $moment->format( 'G:i:s' ) );
		return self::day_number( $moment ) * 86400.0 + $hour * 3600 + $minute * 60 + $second;
	}
	public static function sql_last_day( $date = null ) {
		return self::of( $date, fn( $moment ) => $moment->format( 'Y-m-t' ) );
	}
	public static function sql_to_days( $date = null ) {
		return self::of( $date, fn( $moment ) => self::day_number( $moment ) + 719528 );
	}
	public static function sql_from_days( $days = null ) {
		if ( null === $days ) return null;
		$epoch = new DateTimeImmutable( '@0' );
		return $epoch->modify( sprintf( '%+d days', (int) $days - 719528 ) )->format( 'Y-m-d' );
	}
	public static function sql_quarter( $date = null ) {
		return self::of( $date, fn( $moment ) => intdiv( (int) $moment->format( 'n' ) + 2, 3 ) );
	}
	public static function sql_dayname( $date = null ) {
		return self::of( $date, fn( $moment ) => $moment->format( 'l' ) );
	}
	public static function sql_monthname( $date = null ) {
		return self::of( $date, fn( $moment ) => $moment->format( 'F' ) );
	}
	public static function sql_dayofyear( $date = null ) {
		return self::of( $date, fn( $moment ) => (int) $moment->format( 'z' ) + 1 );
	}
	/** Mode 0, weeks from Sunday, or those of ISO: 1 and 3, which differ at a year's end only. */
	public static function sql_yearweek( $date = null, $mode = 0 ) {
		return self::of( $date, function ( $moment ) use ( $mode ) {
			if ( (int) $mode % 2 ) return (int) $moment->format( 'oW' );
			// The week belongs to the year of its Saturday less six days: that of its Sunday.
			$sunday = $moment->modify( '-' . $moment->format( 'w' ) . ' days' );
			return (int) $sunday->format( 'Y' ) * 100 + intdiv( (int) $sunday->format( 'z' ), 7 ) + 1;
		} );
	}
	public static function sql_time_to_sec( $time = null ) {
		if ( ! preg_match( '/(-?)(\d+):(\d+)(?::(\d+))?\s*$/', (string) $time, $part ) ) return null;
		$seconds = $part[2] * 3600 + $part[3] * 60 + (int) ( $part[4] ?? 0 );
		return '-' === $part[1] ? -$seconds : $seconds;
	}
	public static function sql_sec_to_time( $seconds = null ) {
		if ( null === $seconds ) return null;
		$all = abs( (int) $seconds );
		return sprintf( '%s%02d:%02d:%02d', $seconds < 0 ? '-' : '', intdiv( $all, 3600 ),
			intdiv( $all, 60 ) % 60, $all % 60 );
	}
	public static function sql_period_diff( $one = null, $other = null ) {
		if ( null === $one || null === $other ) return null;
		$months = fn( $period ) => intdiv( (int) $period, 100 ) * 12 + (int) $period % 100;
		return $months( $one ) - $months( $other );
	}
	public static function sql_convert_tz( $date = null, $from = null, $to = null ) {
		if ( in_array( null, array( $date, $from, $to ), true ) ) return null;
		return self::of( $date, function ( $moment ) use ( $from, $to ) {
			try {
				$zone = fn( $name ) => new DateTimeZone( 'SYSTEM' === $name ? 'UTC' : $name );
				$there = new DateTimeImmutable( $moment->format( 'Y-m-d H:i:s' ), $zone( $from ) );
				return $there->setTimezone( $zone( $to ) )->format( 'Y-m-d H:i:s' );
			} catch ( Exception $no_such_zone ) {
				return null;
			}
		} );
	}

	/** What a letter of a format of MySQL reads: a pattern, and which part it is. */
	private const READS = array(
		'Y' => array( '(\d{4})', 'year' ), 'y' => array( '(\d{2})', 'short' ),
		'm' => array( '(\d{1,2})', 'month' ), 'c' => array( '(\d{1,2})', 'month' ),
		'd' => array( '(\d{1,2})', 'day' ), 'e' => array( '(\d{1,2})', 'day' ),
		'H' => array( '(\d{1,2})', 'hour' ), 'k' => array( '(\d{1,2})', 'hour' ),
		'h' => array( '(\d{1,2})', 'hour' ), 'I' => array( '(\d{1,2})', 'hour' ),
		'l' => array( '(\d{1,2})', 'hour' ), 'i' => array( '(\d{1,2})', 'minute' ),
		's' => array( '(\d{1,2})', 'second' ), 'S' => array( '(\d{1,2})', 'second' ),
		'f' => array( '(\d{1,6})', 'micro' ), 'p' => array( '([AaPp][Mm])', 'half' ),
		'M' => array( '([A-Za-z]+)', 'name' ), 'b' => array( '([A-Za-z]{3})', 'name' ),
		'W' => array( '([A-Za-z]+)', 'weekday' ), 'a' => array( '([A-Za-z]{3})', 'weekday' ),
		'j' => array( '(\d{1,3})', 'dayofyear' ),
	);
	public static function sql_str_to_date( $text = null, $format = null ) {
		if ( null === $text || null === $format ) return null;
		$format = strtr( (string) $format, array( '%T' => '%H:%i:%s', '%r' => '%h:%i:%s %p' ) );
		$pattern = '';
		$kinds = array();
		foreach ( preg_split( '/(%.)|(\s+)/', $format, -1, PREG_SPLIT_DELIM_CAPTURE ) as $part ) {
			$reads = str_starts_with( $part, '%' ) ? self::READS[ substr( $part, 1 ) ] ?? null : null;
			if ( null !== $reads ) $kinds[] = $reads[1];
			if ( null !== $reads ) $pattern .= '\s*' . $reads[0];
			else $pattern .= '' === trim( $part ) ? '\s*' : preg_quote( ltrim( $part, '%' ), '/' );
		}
		// What follows in the text is left, as MySQL does with a warning.
		if ( ! preg_match( '/^\s*' . $pattern . '/', (string) $text, $found ) ) return null;
		return self::written( array_combine( $kinds, array_slice( $found, 1 ) ) );
	}
	/** Parts of a date and time as MySQL writes them; null where there is no such day. */
	private static function written( array $parts ): ?string {
		$number = fn( $kind ) => (int) ( $parts[ $kind ] ?? 0 );
		$year = $number( 'year' );
		if ( isset( $parts['short'] ) )
			$year = $number( 'short' ) + ( $number( 'short' ) < 70 ? 2000 : 1900 );
		$month = $number( 'month' );
		if ( isset( $parts['name'] ) ) {
			$at = stripos( 'janfebmaraprmayjunjulaugsepoctnovdec', substr( $parts['name'], 0, 3 ) );
			if ( false === $at || $at % 3 ) return null;
			$month = intdiv( $at, 3 ) + 1;
		}
		$day = $number( 'day' );
		if ( isset( $parts['dayofyear'] ) && $year > 0 ) {
			$that = self::moment( sprintf( '%04d-01-01', $year ) )
				->modify( '+' . ( $number( 'dayofyear' ) - 1 ) . ' days' );
			list( $month, $day ) = array( (int) $that->format( 'n' ), (int) $that->format( 'j' ) );
		}
		$hour = $number( 'hour' );
		if ( isset( $parts['half'] ) )
			$hour = $hour % 12 + ( 'P' === strtoupper( $parts['half'][0] ) ? 12 : 0 );
		list( $minute, $second ) = array( $number( 'minute' ), $number( 'second' ) );
		$has_day = array_intersect_key( $parts,
			array_flip( array( 'year', 'short', 'month', 'name', 'day', 'dayofyear' ) ) );
		$has_time = array_intersect_key( $parts, array_flip( array( 'hour', 'minute', 'second' ) ) );
		// MySQL takes the 31st of every month.
		if ( $hour > 23 || $minute > 59 || $second > 59
			|| ( $has_day && ( $month > 12 || $day > 31 ) ) ) return null;
		$date = sprintf( '%04d-%02d-%02d', $year, $month, $day );
		$time = sprintf( '%02d:%02d:%02d', $hour, $minute, $second );
		if ( ! $has_day ) return $time;
		return $has_time ? "$date $time" : $date;
	}

	/** TIMESTAMPDIFF( unit, from, to ): whole units only. */
	public static function sql_portal_timestampdiff( $unit, $from = null, $to = null ) {
		list( $one, $other ) = array( self::moment( $from ), self::moment( $to ) );
		if ( null === $one || null === $other ) return null;
		if ( isset( self::SECONDS[ $unit ] ) ) {
			$units = ( self::seconds( $other ) - self::seconds( $one ) ) / self::SECONDS[ $unit ];
			return $units < 0 ? ceil( $units ) : floor( $units );
		}
		$sign = $one > $other ? -1 : 1;
		if ( $sign < 0 ) list( $one, $other ) = array( $other, $one );
		$months = ( (int) $other->format( 'Y' ) - (int) $one->format( 'Y' ) ) * 12
			+ (int) $other->format( 'n' ) - (int) $one->format( 'n' );
		if ( $other->format( 'd H:i:s' ) < $one->format( 'd H:i:s' ) ) $months--;
		return $sign * intdiv( $months, self::MONTHS[ $unit ] );
	}
	/** TIMESTAMPADD( unit, count, date ): the last day of a month where it has no such day. */
	public static function sql_portal_timestampadd( $unit, $count = null, $date = null ) {
		if ( null === $count ) return null;
		return self::of( $date, function ( $moment ) use ( $unit, $count, $date ) {
			$is_day = ! str_contains( (string) $date, ':' )
				&& ! in_array( $unit, array( 'SECOND', 'MINUTE', 'HOUR' ), true );
			if ( isset( self::SECONDS[ $unit ] ) ) {
				$moment = $moment->modify( sprintf( '%+d %s', (int) $count, strtolower( $unit ) ) );
			} else {
				$months = (int) $moment->format( 'Y' ) * 12 + (int) $moment->format( 'n' ) - 1
					+ (int) $count * self::MONTHS[ $unit ];
				$first = $moment->setDate( intdiv( $months, 12 ), $months % 12 + 1, 1 );
				$day = min( (int) $moment->format( 'j' ), (int) $first->format( 't' ) );
				$moment = $first->modify( '+' . ( $day - 1 ) . ' days' );
			}
			return $moment->format( $is_day ? 'Y-m-d' : 'Y-m-d H:i:s' );
		} );
	}
	/** EXTRACT( unit FROM date ). */
	public static function sql_portal_extract( $unit, $date = null ) {
		$letters = array( 'YEAR' => 'Y', 'MONTH' => 'n', 'DAY' => 'j', 'HOUR' => 'G', 'MINUTE' => 'i',
			'SECOND' => 's', 'YEAR_MONTH' => 'Ym', 'DAY_HOUR' => 'jH',
			'HOUR_MINUTE' => 'Gi', 'DAY_MINUTE' => 'jHi', 'MINUTE_SECOND' => 'is' );
		if ( 'QUARTER' === $unit ) return self::sql_quarter( $date );
		if ( 'WEEK' === $unit ) return self::sql_week( $date );
		return self::of( $date, fn( $moment ) => (int) $moment->format( $letters[ $unit ] ) );
	}
	/** Whole days between the dates, whatever the time of day. */
	public static function sql_datediff( $one = null, $other = null ) {
		list( $one, $other ) = array( self::moment( $one ), self::moment( $other ) );
		return null === $one || null === $other ? null
			: self::day_number( $one ) - self::day_number( $other );
	}
	/**
	 * Weeks from Sunday with 0 before the first (mode 0) or the last of the year before (2), from
	 * Monday with 0 before the first (1), or those of ISO (3).
	 */
	public static function sql_week( $date = null, $mode = 0 ) {
		return self::of( $date, fn( $moment ) => self::week( $moment, (int) $mode ) );
	}
	private static function week( DateTimeImmutable $moment, int $mode ): int {
		$week = (int) $moment->format( 'W' );
		if ( 0 === $mode % 2 ) {
			$from = intdiv( (int) $moment->format( 'z' ) + 7 - (int) $moment->format( 'w' ), 7 );
			return 2 === $mode && 0 === $from ? self::week( self::year_before( $moment ), 0 ) : $from;
		}
		if ( 3 === $mode || $moment->format( 'o' ) === $moment->format( 'Y' ) ) return $week;
		return $week > 50 ? 0 : 53;
	}
	/** The last day of the year before. */
	private static function year_before( DateTimeImmutable $moment ): DateTimeImmutable {
		return $moment->setDate( (int) $moment->format( 'Y' ) - 1, 12, 31 );
	}
	public static function sql_makedate( $year = null, $day = null ) {
		if ( null === $year || null === $day || $day < 1 ) return null;
		return self::of( sprintf( '%04d-01-01', $year ), fn( $moment ) =>
			$moment->modify( '+' . ( (int) $day - 1 ) . ' days' )->format( 'Y-m-d' ) );
	}
	public static function sql_addtime( $moment = null, $time = null ) {
		$seconds = self::sql_time_to_sec( $time );
		if ( null === $moment || null === $seconds ) return null;
		$found = str_contains( (string) $moment, '-' ) ? self::moment( $moment ) : null;
		return null === $found ? self::sql_sec_to_time( self::sql_time_to_sec( $moment ) + $seconds )
			: $found->modify( sprintf( '%+d seconds', $seconds ) )->format( 'Y-m-d H:i:s' );
	}
	public static function sql_subtime( $moment = null, $time = null ) {
		$seconds = self::sql_time_to_sec( $time );
		return null === $seconds ? null
			: self::sql_addtime( $moment, self::sql_sec_to_time( -$seconds ) );
	}
	public static function sql_portal_timediff( $one = null, $other = null ) {
		if ( null === $one || null === $other ) return null;
		list( $left, $right ) = array( self::moment( $one ), self::moment( $other ) );
		if ( null !== $left && null !== $right )
			return self::sql_sec_to_time( self::seconds( $left ) - self::seconds( $right ) );
		list( $left, $right ) = array( self::sql_time_to_sec( $one ), self::sql_time_to_sec( $other ) );
		return null === $left || null === $right ? null : self::sql_sec_to_time( $left - $right );
	}
	public static function sql_sysdate() {
		return gmdate( 'Y-m-d H:i:s' );
	}
	/** CAST ( value AS DATE ), and AS DATETIME. */
	public static function sql_portal_cast( $kind, $value = null ) {
		$shape = 'DATE' === $kind ? 'Y-m-d' : 'Y-m-d H:i:s';
		return self::of( $value, fn( $moment ) => $moment->format( $shape ) );
	}

	/** What a letter of a format of MySQL writes, in letters of PHP. */
	private const WRITES = array( 'a' => 'D', 'b' => 'M', 'c' => 'n', 'D' => 'jS', 'd' => 'd',
		'e' => 'j', 'f' => 'u', 'H' => 'H', 'h' => 'h', 'I' => 'h', 'i' => 'i', 'k' => 'G',
		'l' => 'g', 'M' => 'F', 'm' => 'm', 'p' => 'A', 'r' => 'h:i:s A', 'S' => 's', 's' => 's',
		'T' => 'H:i:s', 'v' => 'W', 'W' => 'l', 'w' => 'w', 'x' => 'o', 'Y' => 'Y', 'y' => 'y' );
	public static function sql_portal_date_format( $date = null, $format = null ) {
		if ( null === $format ) return null;
		return self::of( $date, fn( $moment ) => preg_replace_callback( '/%(.)/s',
			function ( $found ) use ( $moment ) {
				switch ( $found[1] ) {
					case 'j': return sprintf( '%03d', $moment->format( 'z' ) + 1 );
					case 'U': return sprintf( '%02d', self::week( $moment, 0 ) );
					case 'u': return sprintf( '%02d', self::week( $moment, 1 ) );
					case 'V': return sprintf( '%02d', self::week( $moment, 2 ) );
					case 'X': return ( 0 === self::week( $moment, 0 ) ? self::year_before( $moment )
						: $moment )->format( 'Y' );
					default: return isset( self::WRITES[ $found[1] ] )
						? $moment->format( self::WRITES[ $found[1] ] ) : $found[1];
				}
			}, (string) $format ) );
	}
}
