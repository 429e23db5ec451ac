#include "shoe/shoe.h"

#include "link/bytes.h"

#define HEARTBEAT_MS 250u
#define WINDOW 64u /* records that are sent ahead of the acknowledgement */
#define COMMANDS_IN_A_TURN 16u
#define MOST_PARTS 8u
#define LONGEST_TEXT 32u
#define LONGEST_FAULT 200u
#define HIGHEST_CONFIDENCE 100u

enum { HELLO = 0x01, HEARTBEAT = 0x02 };
enum { CARD = 0x10, UNREAD, CUT_CARD, LID, REVERSE, OVERDRAWN, FAULT };
enum { ASK_HELLO = 0x81, ACKNOWLEDGE, RESEND, LOCK, UNLOCK, LAMPS };

/* Flags of the heartbeat. */
enum { LOCKED = 0x01, LID_IS_OPEN = 0x02, SENDING = 0x04, FULL = 0x08 };

/* Flags of the facts. `HEEDED`: the shoe was opened for the present prompt to burn, so this prompt orders no other change. */
enum { OPEN = 0x01, CUT_CARD_CAME = 0x02, HEEDED = 0x04 };

#define LAMP_BITS 0x37u
#define PROMPT_SHIFT 4u

static const char ranks[] = "A23456789TJQK";
static const char suits[] = "SHDC";

static bool is_set(const struct step *facts, uint8_t flag)
{
    return (facts->flags & flag) != 0u;
}

static void set(struct step *facts, uint8_t flag, bool value)
{
    facts->flags = (uint8_t)(value ? (facts->flags | flag) : (facts->flags & (0xFFu ^ flag)));
}

static uint8_t prompt_of(uint8_t lamps)
{
    return (uint8_t)((lamps >> PROMPT_SHIFT) & 3u);
}

static uint32_t unacknowledged(const struct shoe *shoe)
{
    return shoe->facts.next_record - shoe->facts.first_kept;
}

static bool full(const struct shoe *shoe)
{
    return unacknowledged(shoe) >= shoe->identity->room;
}

static bool burn_is_new(const struct shoe *shoe)
{
    return (prompt_of(shoe->lamps) == SHOE_PROMPT_BURN) && !is_set(&shoe->facts, HEEDED);
}

/* --- the storage */

/* Every HELLO stops the records, because the host opens the flow again with RESEND. */
static void introduce(struct shoe *shoe)
{
    shoe->sending = false;
    shoe->hello_due = true;
}

/* Facts to change, without a record. */
static struct step changed(const struct shoe *shoe)
{
    struct step facts = shoe->facts;

    facts.step++;
    facts.type = 0;
    facts.length = 0;
    return facts;
}

static void keep(struct shoe *shoe, struct step *facts)
{
    const uint8_t decks = shoe->facts.decks;

    if (!journal_append(&shoe->journal, facts)) {
        shoe->halted = true;
        return;
    }
    shoe->facts = *facts;
    if (shoe->next_to_send < facts->first_kept) {
        shoe->next_to_send = facts->first_kept;
    }
    if (facts->decks != decks) {
        introduce(shoe);
    }
}

/* Another series of records, which shows the host that those before are lost. */
static void begin_log(struct shoe *shoe, struct step *facts)
{
    uint8_t bytes[4];

    do {
        shoe->link.line->random(shoe->link.line->context, bytes, sizeof bytes);
    } while ((get_u32(bytes) == 0u) || (get_u32(bytes) == facts->log));
    facts->log = get_u32(bytes);
    facts->first_kept = 1;
    facts->next_record = 1;
    shoe->next_to_send = 1;
    introduce(shoe);
}

static void keep_record(struct shoe *shoe, struct step *facts, uint8_t type, const uint8_t *payload, uint8_t length)
{
    const uint32_t most = (uint32_t)shoe->identity->room + SHOE_RESERVE;

    if (facts->next_record == UINT32_MAX) {
        begin_log(shoe, facts);
    }
    facts->type = type;
    facts->length = length;
    copy_bytes(facts->payload, payload, length);
    facts->next_record++;
    if ((facts->next_record - facts->first_kept) > most) {
        facts->first_kept = facts->next_record - most;
    }
    keep(shoe, facts);
}

/* --- what happens in the shoe */

static bool is_one_of(char sign, const char *signs)
{
    for (; *signs != '\0'; signs++) {
        if (sign == *signs) {
            return true;
        }
    }
    return false;
}

static void keep_card(struct shoe *shoe, struct step *facts, const struct shoe_event *event)
{
    const bool read = (event->kind == SHOE_CARD) && is_one_of(event->rank, ranks) && is_one_of(event->suit, suits) &&
                      (event->confidence <= HIGHEST_CONFIDENCE);
    uint8_t payload[3] = {(uint8_t)'?', (uint8_t)'?', 0};

    if (read) {
        payload[0] = (uint8_t)event->rank;
        payload[1] = (uint8_t)event->suit;
        payload[2] = event->confidence;
    }
    facts->decks = shoe->reader->decks(shoe->reader->context);
    if (shoe->locked) {
        keep_record(shoe, facts, OVERDRAWN, payload, sizeof payload);
    } else if (read) {
        keep_record(shoe, facts, CARD, payload, sizeof payload);
    } else {
        keep_record(shoe, facts, UNREAD, payload, 0);
    }
}

static void keep_event(struct shoe *shoe, const struct shoe_event *event)
{
    struct step facts = changed(shoe);
    uint8_t code[2] = {0, 0};

    facts.position = event->position;
    switch (event->kind) {
    case SHOE_CUT_CARD:
        if (is_set(&facts, CUT_CARD_CAME)) {
            keep(shoe, &facts); /* the same one, which a sensor finds again after a loss of power */
        } else {
            set(&facts, CUT_CARD_CAME, true);
            keep_record(shoe, &facts, CUT_CARD, code, 0);
        }
        break;
    case SHOE_PUSHED_BACK:
        keep_record(shoe, &facts, REVERSE, code, 0);
        break;
    case SHOE_FAULT:
        put_u16(code, event->fault);
        keep_record(shoe, &facts, FAULT, code, sizeof code);
        break;
    case SHOE_CARD:
    case SHOE_UNREAD:
    default:
        keep_card(shoe, &facts, event);
        break;
    }
}

/* The lid is compared with its last record, so that the first turn after a loss of power finds what happened meanwhile. */
static void look_at_lid(struct shoe *shoe)
{
    const bool open = shoe->reader->lid_is_open(shoe->reader->context);
    struct step facts = changed(shoe);
    const uint8_t payload = open ? 1u : 0u;

    if (open == is_set(&facts, OPEN)) {
        return;
    }
    set(&facts, OPEN, open);
    if (open) {
        set(&facts, CUT_CARD_CAME, false); /* there may be other cards, and another cut card */
        set(&facts, HEEDED, is_set(&facts, HEEDED) || (burn_is_new(shoe) && (unacknowledged(shoe) == 0u)));
    } else {
        facts.decks = shoe->reader->decks(shoe->reader->context);
    }
    keep_record(shoe, &facts, LID, &payload, 1);
}

static void look_at_reader(struct shoe *shoe)
{
    struct shoe_event event = {.kind = SHOE_UNREAD};

    look_at_lid(shoe);
    if (!shoe->halted && shoe->reader->happened(shoe->reader->context, &event)) {
        keep_event(shoe, &event);
        if (!shoe->halted) {
            shoe->reader->stored(shoe->reader->context, event.position);
        }
    }
}

static void give_orders(struct shoe *shoe)
{
    const bool acknowledged = unacknowledged(shoe) == 0u;
    const bool held = shoe->halted || shoe->locked || full(shoe) || is_set(&shoe->facts, OPEN) || burn_is_new(shoe);
    const struct shoe_orders orders = {
        .gate_open = acknowledged && !held && (prompt_of(shoe->lamps) != SHOE_PROMPT_NONE),
        .load = acknowledged && !shoe->halted && burn_is_new(shoe),
        .lamps = shoe->lamps,
    };

    shoe->reader->obey(shoe->reader->context, &orders);
}

/* --- what the host orders */

/* Forget the records that are acknowledged, and the burn that is over, before the orders can let a card out. A prompt counts
 * only when all records are acknowledged, because the host may have given it without knowing of them. */
static void obey(struct shoe *shoe, uint32_t first_kept, bool locked, uint8_t lamps)
{
    struct step facts = changed(shoe);

    facts.first_kept = first_kept;
    if ((prompt_of(lamps) != SHOE_PROMPT_BURN) && (facts.first_kept == facts.next_record)) {
        set(&facts, HEEDED, false);
    }
    if ((facts.first_kept != shoe->facts.first_kept) || (facts.flags != shoe->facts.flags)) {
        keep(shoe, &facts);
    }
    shoe->locked = locked;
    shoe->lamps = lamps;
}

static void acknowledge(struct shoe *shoe, uint32_t log, uint32_t record, bool locked, uint8_t lamps)
{
    if ((log == shoe->facts.log) && (record < shoe->facts.next_record)) {
        obey(shoe, (record >= shoe->facts.first_kept) ? (record + 1u) : shoe->facts.first_kept, locked, lamps);
    }
}

static void resend(struct shoe *shoe, uint32_t log, uint32_t record)
{
    if ((log == shoe->facts.log) && (record <= shoe->facts.next_record)) {
        shoe->sending = true;
        shoe->next_to_send = (record < shoe->facts.first_kept) ? shoe->facts.first_kept : record;
    }
}

/* The number of bytes in the payload of a command; false if there is no such command. */
static bool payload_of(uint8_t type, size_t *length)
{
    switch (type) {
    case ASK_HELLO:
    case LOCK:
    case UNLOCK:
        *length = 0;
        return true;
    case ACKNOWLEDGE:
        *length = 10;
        return true;
    case RESEND:
        *length = 8;
        return true;
    case LAMPS:
        *length = 1;
        return true;
    default:
        return false;
    }
}

static bool has_meaning(const struct link_frame *frame)
{
    const uint8_t *payload = frame->payload;

    if (frame->sequence == 0u) {
        return false;
    }
    if ((frame->type == ACKNOWLEDGE) || (frame->type == RESEND)) {
        if ((get_u32(&payload[0]) == 0u) || (get_u32(&payload[4]) == 0u)) {
            return false;
        }
    }
    if (frame->type == ACKNOWLEDGE) {
        return (payload[8] <= 1u) && ((payload[9] & (0xFFu ^ LAMP_BITS)) == 0u);
    }
    return (frame->type != LAMPS) || ((payload[0] & (0xFFu ^ LAMP_BITS)) == 0u);
}

static void carry_out(struct shoe *shoe, const struct link_frame *frame)
{
    const uint8_t *payload = frame->payload;

    switch (frame->type) {
    case ASK_HELLO:
        introduce(shoe);
        break;
    case ACKNOWLEDGE:
        acknowledge(shoe, get_u32(&payload[0]), get_u32(&payload[4]), payload[8] != 0u, payload[9]);
        break;
    case RESEND:
        resend(shoe, get_u32(&payload[0]), get_u32(&payload[4]));
        break;
    case LOCK:
        shoe->locked = true;
        break;
    case UNLOCK:
        shoe->locked = false;
        break;
    case LAMPS:
    default:
        obey(shoe, shoe->facts.first_kept, shoe->locked, payload[0]);
        break;
    }
}

static void hear(struct shoe *shoe)
{
    struct link_frame frame;

    for (uint32_t heard = 0; (heard < COMMANDS_IN_A_TURN) && !shoe->halted; heard++) {
        size_t length;

        if (!link_hear(&shoe->link, &frame)) {
            return;
        }
        if (!payload_of(frame.type, &length)) {
            shoe->link.counts.unknown_type++;
        } else if ((frame.length != length) || !has_meaning(&frame)) {
            shoe->link.counts.malformed++;
        } else {
            shoe->last_command = frame.sequence;
            carry_out(shoe, &frame);
        }
    }
}

/* --- what the shoe sends */

static void say_hello(struct shoe *shoe)
{
    const struct shoe_identity *identity = shoe->identity;

    if (!link_begin(&shoe->link, HELLO, 0)) {
        return;
    }
    link_put_text(&shoe->link, identity->serial);
    link_put_u32(&shoe->link, shoe->facts.log);
    link_put_u32(&shoe->link, shoe->facts.first_kept);
    link_put_u32(&shoe->link, shoe->facts.next_record);
    link_put_u8(&shoe->link, shoe->facts.decks);
    link_put_u8(&shoe->link, identity->part_count);
    for (uint8_t at = 0; at < identity->part_count; at++) {
        link_put_text(&shoe->link, identity->parts[at].name);
        link_put_text(&shoe->link, identity->parts[at].version);
        link_put(&shoe->link, identity->parts[at].digest, SHOE_DIGEST_BYTES);
    }
    link_send(&shoe->link);
    shoe->hello_due = false;
}

static uint8_t flags(const struct shoe *shoe)
{
    uint8_t result = 0;

    result = (uint8_t)(result | (shoe->locked ? LOCKED : 0u));
    result = (uint8_t)(result | (is_set(&shoe->facts, OPEN) ? LID_IS_OPEN : 0u));
    result = (uint8_t)(result | (shoe->sending ? SENDING : 0u));
    return (uint8_t)(result | (full(shoe) ? FULL : 0u));
}

static void say_heartbeat(struct shoe *shoe, uint32_t now)
{
    if (!link_begin(&shoe->link, HEARTBEAT, 0)) {
        return;
    }
    link_put_u32(&shoe->link, shoe->facts.log);
    link_put_u32(&shoe->link, shoe->facts.first_kept);
    link_put_u32(&shoe->link, shoe->next_to_send);
    link_put_u32(&shoe->link, shoe->facts.next_record);
    link_put_u8(&shoe->link, flags(shoe));
    link_put_u8(&shoe->link, shoe->lamps);
    link_put_u32(&shoe->link, shoe->last_command);
    link_put_u8(&shoe->link, shoe->facts.decks);
    link_send(&shoe->link);
    shoe->beat_at += HEARTBEAT_MS;
    if ((now - shoe->beat_at) >= HEARTBEAT_MS) {
        shoe->beat_at = now; /* the line took nothing for a while */
    }
}

/* The texts of faults are in the program, so that a step has room for every record. */
static const char *fault_text(const struct shoe_identity *identity, uint16_t code)
{
    for (uint8_t at = 0; at < identity->fault_count; at++) {
        if (identity->faults[at].code == code) {
            return identity->faults[at].text;
        }
    }
    return "";
}

static void say_record(struct shoe *shoe)
{
    struct step found;

    if (!journal_find(&shoe->journal, shoe->facts.log, shoe->next_to_send, &found)) {
        struct step facts = changed(shoe); /* the storage has lost a record that it had at power-on */

        begin_log(shoe, &facts);
        keep(shoe, &facts);
        return;
    }
    if (!link_begin(&shoe->link, found.type, shoe->next_to_send)) {
        return;
    }
    link_put(&shoe->link, found.payload, found.length);
    if (found.type == FAULT) {
        link_put_text(&shoe->link, fault_text(shoe->identity, (uint16_t)((found.payload[0] << 8) | found.payload[1])));
    }
    link_send(&shoe->link);
    shoe->next_to_send++;
}

static bool record_is_due(const struct shoe *shoe)
{
    return shoe->sending && (shoe->next_to_send < shoe->facts.next_record) &&
           ((shoe->next_to_send - shoe->facts.first_kept) < WINDOW) && link_ready(&shoe->link);
}

static void say(struct shoe *shoe, uint32_t now)
{
    link_flush(&shoe->link);
    if (shoe->hello_due) {
        say_hello(shoe);
    }
    while (record_is_due(shoe) && !shoe->halted) {
        say_record(shoe);
    }
    if ((now - shoe->beat_at) >= HEARTBEAT_MS) { /* behind the records, because it counts them as sent */
        say_heartbeat(shoe, now);
    }
}

/* --- the shoe */

static bool is_text(const char *text, uint32_t shortest, uint32_t longest, char lowest)
{
    uint32_t length = 0;

    for (; text[length] != '\0'; length++) {
        if ((length == longest) || (text[length] < lowest) || (text[length] > '~')) {
            return false;
        }
    }
    return length >= shortest;
}

static bool can_be_sent(const struct shoe_identity *identity)
{
    if (!is_text(identity->serial, 1, LONGEST_TEXT, '!') || (identity->part_count > MOST_PARTS)) {
        return false;
    }
    for (uint8_t at = 0; at < identity->part_count; at++) {
        if (!is_text(identity->parts[at].name, 1, LONGEST_TEXT, ' ') ||
            !is_text(identity->parts[at].version, 1, LONGEST_TEXT, ' ')) {
            return false;
        }
    }
    for (uint8_t at = 0; at < identity->fault_count; at++) {
        if (!is_text(identity->faults[at].text, 0, LONGEST_FAULT, ' ')) {
            return false;
        }
    }
    return (identity->room > 0u) && (identity->room <= SHOE_ROOM);
}

static bool is_large_enough(const struct storage *storage)
{
    return ((storage->sectors - 1u) * (storage->sector_bytes / JOURNAL_STEP_BYTES)) >= SHOE_STEPS;
}

bool shoe_power_on(struct shoe *shoe, const struct shoe_identity *identity, const struct storage *storage,
                   const struct shoe_reader *reader, const struct link_line *line, uint32_t now)
{
    enum journal_found found;

    *shoe = (struct shoe){.identity = identity, .reader = reader, .locked = true, .hello_due = true, .beat_at = now - HEARTBEAT_MS};
    link_power_on(&shoe->link, line, identity->key);
    found = journal_open(&shoe->journal, storage, &shoe->facts);
    if ((found == JOURNAL_UNUSABLE) || !is_large_enough(storage) || !can_be_sent(identity)) {
        return false;
    }
    if (found != JOURNAL_WHOLE) {
        struct step facts = changed(shoe);

        begin_log(shoe, &facts);
        keep(shoe, &facts);
    }
    shoe->next_to_send = shoe->facts.first_kept;
    if (!shoe->halted) {
        reader->stored(reader->context, shoe->facts.position);
    }
    return !shoe->halted;
}

bool shoe_turn(struct shoe *shoe, uint32_t now)
{
    if (!shoe->halted) {
        hear(shoe);
    }
    if (!shoe->halted) {
        look_at_reader(shoe);
    }
    give_orders(shoe);
    if (!shoe->halted) {
        say(shoe, now);
    }
    return !shoe->halted;
}
