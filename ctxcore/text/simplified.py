"""Owns reading traditional Chinese characters as the simplified ones that all forms are written in.

Only characters that rules are made of are known here; what is told stays as it was said.
"""

from __future__ import annotations

import re
from typing import Final

_TRADITIONAL: Final = (
    "請別後從現開時這個們給讓說話語對會還沒為爲與無須務嚴準許絕遠記總統應該當則規條變換廢銷棄寫發"
    "傳訊訂買賣價錢預報單號碼註檔資據數圖頁題標點兩萬幾週間過進運動備簡體見問復複覆聯絡麼裡裏僅夠長"
    "較調減寬遲縮擴轉飯車機飛稱經審確認測試執刪證驗類項選擇處辦聽訴鐘來樣隨關係邊頭員誰嗎壓檢國終結"
    "術譯錄實際總銀類錯誤層級稅額險醫藥減輕區塊維護雲端網頁檯燈溫熱飲葷鹽魚雞麵湯"
    "議簽費業產購輸貨專樓顯畫強壞難導師廠廣離養"
)
_SIMPLE: Final = (
    "请别后从现开时这个们给让说话语对会还没为为与无须务严准许绝远记总统应该当则规条变换废销弃写发"
    "传讯订买卖价钱预报单号码注档资据数图页题标点两万几周间过进运动备简体见问复复复联络么里里仅够长"
    "较调减宽迟缩扩转饭车机飞称经审确认测试执删证验类项选择处办听诉钟来样随关系边头员谁吗压检国终结"
    "术译录实际总银类错误层级税额险医药减轻区块维护云端网页台灯温热饮荤盐鱼鸡面汤"
    "议签费业产购输货专楼显画强坏难导师厂广离养"
)
_TO_SIMPLE: Final = str.maketrans(_TRADITIONAL, _SIMPLE)
_HAS_TRADITIONAL: Final = re.compile(f"[{_TRADITIONAL}]")


def simplified(words: str) -> str:
    """`words` at their length, with the simplified characters that rules are written with."""
    return words.translate(_TO_SIMPLE) if _HAS_TRADITIONAL.search(words) else words
