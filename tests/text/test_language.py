from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.text.language import foreign_reason

LATIN = {
    "German": [
        "Aspirin senkt das Risiko für einen Schlaganfall bei Patienten mit Vorhofflimmern nicht.",
        "Die Behandlung mit Statinen wurde von allen Teilnehmern gut vertragen.",
        "Es gibt keine Hinweise, dass das Medikament die Sterblichkeit erhöht.",
    ],
    "French": [
        "L'aspirine réduit le risque d'accident vasculaire cérébral chez les patients âgés.",
        "Les statines ont été bien tolérées par tous les participants de l'essai.",
        "Aucune différence n'a été observée entre les deux groupes de patients.",
    ],
    "Spanish": [
        "La aspirina reduce el riesgo de ictus en los pacientes con fibrilación auricular.",
        "Las estatinas fueron bien toleradas por todos los participantes del ensayo.",
        "No se observaron diferencias entre los dos grupos de pacientes.",
    ],
    "Italian": [
        "L'aspirina riduce il rischio di ictus nei pazienti con fibrillazione atriale.",
        "Le statine sono state ben tollerate da tutti i partecipanti allo studio.",
        "Non è stata osservata alcuna differenza tra i due gruppi di pazienti.",
    ],
    "Portuguese": [
        "A aspirina reduz o risco de acidente vascular cerebral nos doentes com fibrilhação auricular.",
        "As estatinas foram bem toleradas por todos os participantes do ensaio.",
        "Não foram observadas diferenças entre os dois grupos de doentes.",
    ],
    "Dutch": [
        "Aspirine verlaagt het risico op een beroerte bij patiënten met boezemfibrilleren.",
        "De statines werden door alle deelnemers aan het onderzoek goed verdragen.",
        "Er is geen verschil gevonden tussen de twee groepen patiënten.",
    ],
    "Swedish": [
        "Acetylsalicylsyra minskar risken för stroke hos patienter som har förmaksflimmer.",
        "Statinerna tolererades väl av alla som deltog i studien och inga dödsfall inträffade.",
        "Det fanns inte någon skillnad mellan de två grupperna av patienter.",
    ],
    "Danish or Norwegian": [
        "Acetylsalicylsyre nedsætter risikoen for apopleksi hos patienter, som har atrieflimren.",
        "Statinerna ble godt tolerert av alle som deltok i studien, og det var ingen dødsfall.",
        "Der var ikke nogen forskel mellem de to grupper af patienter.",
    ],
    "Polish": [
        "Aspiryna zmniejsza ryzyko udaru mózgu u pacjentów, którzy mają migotanie przedsionków.",
        "Statyny były dobrze tolerowane przez wszystkich uczestników i nie stwierdzono zgonów.",
        "Nie ma różnicy między grupami, ale leczenie jest bardzo drogie.",
    ],
    "Czech": [
        "Aspirin snižuje riziko mrtvice u pacientů, kteří mají fibrilaci síní, a je levný.",
        "Statiny byly dobře snášeny a při léčbě nebyl zjištěn rozdíl mezi skupinami.",
        "Tato léčba není vhodná pro pacienty, u kterých je riziko krvácení.",
    ],
    "Turkish": [
        "Aspirin, atriyal fibrilasyonu olan hastalarda inme riskini azaltan bir ilaç olarak kullanılır.",
        "Statinler tüm katılımcılar tarafından iyi tolere edildi ve ölüm olmadı.",
        "Bu tedavi daha pahalı ancak iki grup arasında fark yok.",
    ],
    "Romanian": [
        "Aspirina reduce riscul de accident vascular cerebral la pacienții care au fibrilație și diabet.",
        "Statinele au fost bine tolerate de către toți participanții la studiu.",
        "Nu există diferențe între cele două grupuri, dar tratamentul este mai scump.",
    ],
    "Finnish": [
        "Aspiriini vähentää aivohalvauksen riskiä potilailla, joilla on eteisvärinä, mutta se ei ole halpa.",
        "Statiinit olivat hyvin siedettyjä ja kuolemia ei ollut.",
        "Ryhmien välillä ei ollut eroa, kun hoito oli sama.",
    ],
    "Hungarian": [
        "Az aszpirin csökkenti a stroke kockázatát a pitvarfibrilláló betegek között, de nem olcsó.",
        "A sztatinokat minden résztvevő jól tolerálta, és nem volt haláleset.",
        "Nincs különbség a két csoport között, mert a kezelés is azonos volt.",
    ],
    "Vietnamese": [
        "Aspirin làm giảm nguy cơ đột quỵ ở các bệnh nhân bị rung nhĩ.",
        "Không có sự khác biệt giữa hai nhóm bệnh nhân được điều trị với thuốc này.",
    ],
    "Indonesian": [
        "Aspirin dapat menurunkan risiko stroke pada pasien dengan fibrilasi atrium.",
        "Tidak ada perbedaan yang bermakna antara dua kelompok pasien dalam penelitian ini.",
    ],
}
SCRIPTS = {
    "Cyrillic": "Аспирин снижает риск инсульта.",
    "Chinese": "阿司匹林可降低中风的风险。",
    "Japanese": "アスピリンは脳卒中の危険性を低下させる。",
    "Korean": "아스피린은 뇌졸중 위험을 낮춘다.",
    "Arabic": "يقلل الأسبرين من خطر السكتة الدماغية.",
    "Hebrew": "אספירין מפחית את הסיכון לשבץ.",
    "Devanagari": "एस्पिरिन स्ट्रोक का खतरा कम करती है।",
    "Greek": "Η ασπιρίνη μειώνει τον κίνδυνο εγκεφαλικού επεισοδίου.",
    "Thai": "แอสไพรินลดความเสี่ยงของโรคหลอดเลือดสมอง",
}
ENGLISH = [
    "Aspirin does not lower the risk of stroke.",
    "TNF-α, IL-1β, IFN-γ and NF-κB rise in αβ T cells; Δψm falls (ρ = 0.5).",
    "β-catenin → Wnt, γδ T, ΔF508, μ-opioid, λ, κ.",
    "De novo mutations in SCN1A cause Dravet syndrome in vivo and in vitro.",
    "Clostridioides difficile and Staphylococcus aureus colonise de la Tourette patients.",
    "Von Willebrand disease, van der Woude syndrome, tic de la Tourette, Charcot-Marie-Tooth.",
    "Mice lacking the gene die in utero, per se, et al.",
    "Trastuzumab deruxtecan versus trastuzumab emtansine, HER2-positive metastatic breast cancer.",
    "Hospital Universitario La Paz, Madrid: a cohort of 300 men.",
    "PCSK9 inhibitors lower LDL cholesterol.",
    "Die, or live: a man and his son had a par score over ten.",
    "Ménière's disease and Sjögren's syndrome in São Paulo.",
    "Patients in Москва had more strokes than those in London.",
]


@pytest.mark.parametrize(
    ("language", "text"), [(language, text) for language, texts in LATIN.items() for text in texts]
)
def test_languages_in_latin_script(language: str, text: str):
    assert foreign_reason(text) == f"looks like {language}"


@pytest.mark.parametrize(("script", "text"), SCRIPTS.items())
def test_other_scripts(script: str, text: str):
    assert foreign_reason(text) == f"written in a script other than Latin: {script}"


@pytest.mark.parametrize("text", ENGLISH)
def test_biomedical_english_is_not_flagged(text: str):
    assert foreign_reason(text) is None


@pytest.mark.parametrize("text", ["", "Ja.", "Das ist nicht gut", "β", "Ω Δ α", "4.5 % (p < 0.05)", "日本"])
def test_too_short_to_tell(text: str):
    assert foreign_reason(text) is None


def test_letters_and_their_marks_may_come_apart():
    assert foreign_reason("Bu tedavi daha pahalı ancak iki grup arasında fark değil.".replace("ğ", "g\u0306"))


@given(st.text())
def test_any_text_is_taken(text: str):
    reason = foreign_reason(text)
    assert reason is None or reason.startswith(("written in", "looks like"))
