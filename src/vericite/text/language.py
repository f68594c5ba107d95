"""Whether a text is in another language than English, told from its script and its function words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_FEWEST_WORDS = 5
_FEWEST_LETTERS = 4

# By the beginning of the Unicode names of their letters. What is not here counts as Latin: symbols, units,
# mathematical letters.
_SCRIPTS = {
    "CYRILLIC": "Cyrillic",
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "ARABIC": "Arabic",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Devanagari",
    "BENGALI": "Bengali",
    "TAMIL": "Tamil",
    "TELUGU": "Telugu",
    "THAI": "Thai",
    "GREEK": "Greek",
    "ARMENIAN": "Armenian",
    "GEORGIAN": "Georgian",
    "ETHIOPIC": "Ethiopic",
    "GUJARATI": "Gujarati",
    "KANNADA": "Kannada",
    "MALAYALAM": "Malayalam",
    "MYANMAR": "Burmese",
    "KHMER": "Khmer",
    "LAO": "Lao",
    "SINHALA": "Sinhala",
    "GURMUKHI": "Gurmukhi",
    "TIBETAN": "Tibetan",
}
_LONGEST_GREEK_SYMBOL = 3  # "Δ", "αβ" and "γδε" are symbols; a longer run of Greek letters is a Greek word

# Function words. Those that several languages share vote for each of them.
_LANGUAGES = {
    "German": """und der das den dem ein eine einer eines einem einen mit bei für auf nicht wird
        werden wurde wurden ist sind oder durch auch sich nach aus zu zur zum als kann
        können haben hat vom wie wenn dass über bis zwischen diese dieser dieses sowie
        nur noch keine im vor unter gegen des die ohne mehr sehr ihre""",
    "French": """le la les des une est et dans pour par sur avec du au aux que qui ne pas plus
        sont cette ces ce chez entre ont été être ou l' d' qu' n' s' c' leur comme lors
        après elle ils peut peuvent mais sans sous dont ainsi son ses très fait""",
    "Spanish": """todos todas el la los las una del que en y con por para se es como más al lo su
        sus entre sobre fue fueron son esta este estos han ha puede pueden sin también
        desde pero muy cuando según hasta no ser está están o de un""",
    "Italian": """il lo gli della delle dei degli del nel nella nelle nei che è sono con una per
        di da dal dalla al alla alle ai si non più come tra anche questo questa questi
        dell' nell' l' un' all' dall' sull' ha hanno tutti tutte stato stati può possono
        ed e i le la un essere""",
    "Portuguese": """todos todas o os um uma da do das dos na nas nos em com para por que não é são
        ao à às pela pelo pelos mais como se entre foi foram ser também e sua seu suas
        seus pode podem esta este sobre após sem até já muito""",
    "Dutch": """de het een van en met voor niet zijn wordt worden werd werden door bij naar ook
        dat deze dit die aan op om te uit tot tussen over na zich kan kunnen heeft
        hebben als maar meer geen wel omdat er ze hun""",
    "Swedish": """och att det som en ett är av för med till på inte den har kan om från vid eller
        hos var vara mellan efter också så men de denna detta dessa blev blir skulle än
        utan sin sina där hade""",
    "Danish or Norwegian": """og at det som en et er af av for med til på ikke den har kan om fra ved eller
        hos var være mellom mellem etter efter også så men de denne dette disse blev ble
        bliver blir skal enn uten uden sin sine der hvor hadde havde jeg""",
    "Polish": """i w na z do się nie jest są oraz przez dla od po że jak u ze pod przy lub być
        może które który która został została zostały tego tym jego ich ma mają którzy
        bardzo także ale czy ten""",
    "Czech": """a v na se je s z do k že pro jsou nebo o po při od ve byl byla bylo byly u jako
        tak ale který kteří která které být za podle mezi této tento tato jeho jejich
        také není může mohou ze""",
    "Turkish": """ve bir bu ile için olarak olan da de daha çok en gibi kadar sonra arasında değil
        olduğu ise veya tarafından hastalarda edilmiştir etmektedir vardır üzerinde göre
        hem ancak her olup edildi yüksek""",
    "Romanian": """și şi în la cu pe din este sunt care o un de a pentru nu mai prin sau ale al ai
        fost fi după între ca se lor lui această acest aceste către poate pot dintre
        fără""",
    "Finnish": """ja on ei oli että se tai ovat myös kuin joka mutta sekä olla voi sen hänen ne
        niin kun jos mukaan välillä jälkeen tämä tämän ole olivat voidaan kanssa jotka
        hän vain""",
    "Hungarian": """a az és egy hogy nem is volt van meg el ez azt de mint vagy csak már még voltak
        ezek által között után lehet alatt esetén pedig amely ezt való több sem""",
    "Vietnamese": """và của là có được trong cho các những không với một người bệnh này đã để khi từ
        đến ở trên như bằng nhân thể hơn về tại vào nhiều hoặc do ra gây""",
    "Indonesian": """yang dan di dengan untuk pada dari dalam ini itu adalah tidak atau oleh karena
        dapat akan telah lebih sebagai juga antara secara terhadap tersebut pasien bahwa
        kepada lain penyakit bisa""",
}
_ENGLISH = frozenset(
    """the and of that with by from are were which these this have has had been between not or than after
    who but their be to can may is was in for as on at it an its we our into during both among there
    such while does could no more less most other when will should all also associated patients cells
    treatment""".split()
)
# Also in English text, as words ("die", "man"), names ("von Willebrand"), Latin ("de novo"), initials and
# symbols: these support a language but never make the case for it.
_AMBIGUOUS = frozenset(
    """a i e o s u k z w v y x in is was an am as at on no to do so me he we or of by be not all over
    under per had has may can die des de la le el del van von den der du al da di il et un una en es
    se si mi lo na son con sin par plus pro ma ha ne pot para dos das men man most war hat arm ten her
    for han ham fat us it its ai nu er om te ze ca cu hos lui mine sur sine fin ut fra min ben mai dem
    ed ce ou pod ile els fi var eller past main dan gel dal pe lor ve via ex post ad vs em co mg ml kg
    og till bis zu op dit meg ez sem ra tam""".split()
)
_WORD = re.compile(r"[^\W\d_]+['’]?")


@lru_cache(maxsize=4096)
def _script(letter: str) -> str | None:
    """The script of a letter, None if it is Latin or a symbol."""
    name = unicodedata.name(letter, "")
    return _SCRIPTS.get(name.split(" ", 1)[0].split("-", 1)[0])


def _vocabulary() -> dict[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in _LANGUAGES.items()}


_VOCABULARY = _vocabulary()


def foreign_reason(text: str) -> str | None:
    """Why a text seems to be in another language than English, or None if it does not.

    The reason is a phrase: "written in a script other than Latin: Cyrillic", "looks like German". Built so
    that English is hardly ever flagged: fewer than five words in Latin letters never are, nor are names of
    species and drugs or Greek letters. Languages in Latin script are told by their function words, so a
    heading or a list of terms goes unflagged, and a near relative may be named instead of the language.
    """
    text = unicodedata.normalize("NFC", text)
    return _foreign_script(text) or _foreign_words(text)


def _foreign_script(text: str) -> str | None:
    counts: dict[str, int] = {}
    letters = 0
    for word in _WORD.findall(text):
        letters += len(word)
        scripts = [_script(letter) for letter in word]
        if scripts.count("Greek") <= _LONGEST_GREEK_SYMBOL:
            scripts = [None if script == "Greek" else script for script in scripts]
        for script in scripts:
            if script:
                counts[script] = counts.get(script, 0) + 1
    foreign = sum(counts.values())
    if foreign < _FEWEST_LETTERS or 2 * foreign <= letters:
        return None
    if counts.get("Japanese", 0) > 1:
        return "written in a script other than Latin: Japanese"  # most of its letters may be Chinese ones
    return f"written in a script other than Latin: {max(counts, key=lambda script: counts[script])}"


def _foreign_words(text: str) -> str | None:
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    words = [word if word.rstrip("'") == word or len(word) <= 5 else word.rstrip("'") for word in words]
    if len(words) < _FEWEST_WORDS:
        return None
    english = sum(word in _ENGLISH for word in words)
    accented = min(2, len({word for word in words if not word.isascii()}))
    best, votes, certain = "", 0, False
    for name, vocabulary in _VOCABULARY.items():
        hits = [word for word in words if word in vocabulary]
        telling = len({word for word in hits if word not in _AMBIGUOUS})
        found = len(hits) + telling
        if telling and found > votes:
            best, votes = name, found
            certain = telling + accented > 2 or telling > 1 or (len(hits) > 3 and not english)
    enough = certain and votes + accented >= max(4, len(words) // 5)
    return f"looks like {best}" if enough and votes > 2 * english else None
