"""The validators' codes: what each guards against, and what follows. Stage: qa, declarations.

error: the item is refused, or repaired first where ``repair`` knows how. review: a person decides. warning: kept and
marked.
"""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """What follows from a finding."""

    ERROR = "error"
    REVIEW = "review"
    WARNING = "warning"


CODES: dict[str, str] = {
    # fields
    "FIELD_EMPTY": "a text is empty or a placeholder",
    "FIELD_TYPE": "a field is missing, unknown or of the wrong type",
    "REF_DANGLING": "a reference names nothing that exists",
    "ID_DUP": "two items bear one id",
    "CLASS_CONFLICT": "category, level, format or labels contradict each other",
    "ACT_MERGED": "an answer about one action rests on a narration of several",
    "COUNT_DRIFT": "a count that is written down differs from what is there",
    # time and source
    "SRC_MEDIA_MISSING": "the video is not in the collection",
    "SRC_PART_MISSING": "the clip leaves out a part of its evidence",
    "TIME_FORMAT": "a time is not written as hh:mm:ss.sss or seconds",
    "UNIT_AMBIG": "a time is given without its unit",
    "UNIT_SCALE": "times look like frames or milliseconds",
    "CLOCK_MIX": "a time in the question lies outside of its clip",
    "IVL_EMPTY": "an interval ends at or before its start",
    "IVL_OUT_OF_MEDIA": "an interval lies outside of its video",
    "IVL_OUTSIDE_PARENT": "what is asked about lies outside of the clip",
    "IVL_OVERLAP_SAME_ENTITY": "one thing makes two moves at once",
    "NAR_POINT_ONLY": "a narration gives a point in time and no interval",
    "NAR_ORDER": "narrations are not in the order of time",
    "BOX_ORDER": "a box has its corners in the wrong order",
    "BOX_OOB": "a box lies outside of the picture",
    # state
    "ENT_NAME_ONLY_MERGE": "things were taken for one by their name alone",
    "ENT_STATE_COLLAPSED": "states at different times are given as one",
    "STATE_CONTRADICTION": "the replayed world has another state",
    "STATE_STALE": "the state was last seen too long before",
    "DELTA_NONE": "nothing changes",
    "EFFECT_RULE_ONLY": "the effect is only predicted by the rule of the action",
    # evidence
    "EV_NONE": "no evidence is named",
    "EV_NARRATION_ONLY": "only narrations are named, which give times and no proof",
    "EV_OUTSIDE_EVENT": "evidence lies outside of the event that is asked about",
    "EV_QUOTE_NOT_FOUND": "a quote is not in its source",
    "EV_FROM_QA": "an earlier question or answer is named as evidence",
    "MOD_STREAM_ABSENT": "a modality is required that the sources do not have",
    "MOD_LABEL_EXTRA": "a modality is required that no evidence is of",
    "MOD_LABEL_MISSING": "evidence is of a modality that is not required",
    "MOD_REDUNDANT": "one modality alone gives the answer",
    "AV_UNLINKED": "sound and picture do not belong to one event",
    # answers
    "ANS_IN_QUESTION": "the question says the answer",
    "ANS_IN_HISTORY": "an earlier turn says the answer",
    "ANS_NOT_UNIQUE": "the world gives no answer, or more than one",
    "ANS_CONFLICT_GROUP": "the same question has two answers",
    "KEYPOINT_UNBOUND": "a point of the answer rests on no evidence",
    "OPT_DUP": "two options say the same",
    "OPT_SUBSUMES_KEY": "an option contains the key, or the key contains it",
    "OPT_ALSO_TRUE": "another option is true as well",
    "OPT_ELIMINABLE": "the key or an option stands out by its form",
    "KEY_OUT_OF_RANGE": "the key names no option",
    "KEY_VOCAB": "the keyed option is not the reference answer",
    "KEY_POSITION_BIAS": "some positions hold the key more often than chance",
    "DUP_GROUP": "the same item occurs twice",
    "DUP_NEAR": "two items of a video and category hardly differ",
    "DUP_EVENT": "one event is asked about twice in the same way",
    "SPLIT_LEAK_VIDEO": "a video is in two splits",
    # edges
    "EDGE_ENDPOINT_MISSING": "a relation lacks one of its ends",
    "EDGE_DIRECTION": "the relation leads the other way",
    "INTENT_IS_ACTION": "the intention repeats the action",
    "INTENT_UNSUPPORTED": "no source states the intention",
    "GOAL_AFTER_CUTOFF": "evidence comes after the decision",
    "CLIP_NOT_CUTOFF_SAFE": "the clip shows what comes after the decision",
    "GOAL_MULTI_ENABLED": "several goals are open",
    "GROUND_NOT_NECESSARY": "the action is possible without the condition",
    "CUE_AFTER_ACTION": "the cue comes after the action",
    "PERCEPT_UNOBSERVED": "nothing says that it was perceived",
    # structure
    "REL_ADJACENCY_ONLY": "the parts only follow each other",
    "REL_SHARED_OBJECT_ONLY": "the parts only share a thing",
    "REL_UNRESOLVED": "the relation is uncertain",
    "CHAIN_LINK_UNUSED": "the later answer does not need the earlier part",
    "CHAIN_CLOSES": "feedback closes the chain: it is a loop",
    "LOOP_ROLE_MISSING": "a role of the loop is not bound",
    "LOOP_ROLE_REUSED": "one event plays two roles of the loop",
    "LOOP_NO_FEEDBACK": "the feedback is no perception between action and adjustment",
    "LOOP_ORDER_ONLY": "action and adjustment only follow each other",
    "LOOP_SUCCESS_ASSUMED": "the outcome is taken from the action having ended",
    "XLOOP_BRIDGE_MISSING": "nothing bridges the two loops",
    "XLOOP_FIRST_UNUSED": "the later loop does not need the earlier one",
    "TURN_COUNT": "a dialogue has two to four turns, a single question one",
    "TURN_NO_NEW_EVIDENCE": "a later turn needs nothing new",
    "TURN_NO_INHERITED": "a later turn inherits nothing",
    "TURN_STANDALONE_DIFF": "the standalone question is missing, or another one",
    # proposals of a model
    "MODEL_REJECTS": "a further model call does not find it supported",
    # repair
    "REP_NEW_FACT": "a repair brought in evidence from outside",
    "REP_TARGET_CHANGED": "a repair changed what is asked",
    "REP_LEVEL_CHANGED": "a repair changed category or level",
    "REP_CUTOFF_CHANGED": "a repair moved the cutoff",
    "REP_LIMIT": "more repairs than allowed",
    # evaluation, audits, exports, review
    "PARSE_RATE": "too many replies could not be read",
    "JUDGE_FAIL_AS_SCORE": "a judgement that failed carries a score",
    "JUDGE_SCORE_CONFLICT": "the score contradicts the decision",
    "JUDGE_IDENTITY": "a judgement does not say who judged, with which prompt",
    "DEN_MISMATCH": "a figure does not fit its denominator",
    "PROTO_DRIFT": "results of different protocols are compared",
    "SHORTCUT_ITEM": "blind guessers get the item right",
    "SHORTCUT_ITEMSET": "a blind guesser beats chance on a set of items",
    "EXP_MEDIA_COUNT": "media tags and media differ in number",
    "EXP_PLACEHOLDER": "an export holds an unfilled place",
    "REVIEW_STALE": "the item was changed after it was reviewed",
    "REVIEW_MEDIA_UNVERIFIED": "accepted without its media having been played",
}
_WARNINGS = frozenset({"NAR_POINT_ONLY", "IVL_OVERLAP_SAME_ENTITY", "KEY_POSITION_BIAS", "REVIEW_MEDIA_UNVERIFIED"})
_REVIEWS = frozenset({"ENT_NAME_ONLY_MERGE", "ANS_CONFLICT_GROUP", "REL_UNRESOLVED", "REVIEW_STALE"})


def severity(code: str) -> str:
    """Return what follows from a code."""
    if code in _REVIEWS:
        return Severity.REVIEW.value
    return (Severity.WARNING if code in _WARNINGS else Severity.ERROR).value
